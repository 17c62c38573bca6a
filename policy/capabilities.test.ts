import { EvalCase } from '../contracts/case.js';
import { HarnessSpec } from '../contracts/harness.js';
import { RuntimeSpec } from '../contracts/runtime.js';
import { derive, type OperatorFlags, runtimeFaults, siteFaults, unenforcedAxes } from './capabilities.js';

const aCase = (parts: object = {}) => EvalCase.parse({ id: 'a', task: 'add', ...parts });
const aHarness = (parts: object = {}) =>
  HarnessSpec.parse({ kind: 'process', id: 'h', version: '1', entrypoint: ['/agent'], ...parts });
const aService = HarnessSpec.parse({ kind: 'service', id: 's', version: '1' });
const local = (parts: object = {}) => RuntimeSpec.parse({ kind: 'local', id: 'desk', version: '1', ...parts });
const nomad = (parts: object = {}) =>
  RuntimeSpec.parse({
    kind: 'nomad',
    id: 'rack',
    version: '1',
    addr: 'http://nomad.example.test',
    image: 'i:1',
    ...parts,
  });
const k8s = (parts: object = {}) =>
  RuntimeSpec.parse({ kind: 'k8s', id: 'kube', version: '1', image: 'i:1', kubeconfigSecret: 'KUBE', ...parts });

const FLAGS: OperatorFlags = { allowLocalRuntimes: true, allowUnisolatedDrivers: true, allowAmbientKubeconfig: true };
const NO_FLAGS: OperatorFlags = {
  allowLocalRuntimes: false,
  allowUnisolatedDrivers: false,
  allowAmbientKubeconfig: false,
};

describe('derive', () => {
  test.each([
    ['plain nomad', nomad(), ['docker']],
    ['nomad with podman', nomad({ driver: 'podman' }), ['docker']],
    ['nomad with a hardened runtime', nomad({ runtime: 'runsc' }), ['docker', 'sandbox']],
    ['nomad with an ordinary runtime', nomad({ runtime: 'nvidia' }), ['docker']],
    ['nomad with a trace source', nomad({ traceSource: 'http://trace.example.test' }), ['docker', 'topology']],
    ['nomad with GPUs', nomad({ gpu: 1 }), ['docker', 'gpu']],
    ['nomad with a declared capability', nomad({ capabilities: ['os-windows'] }), ['docker', 'os-windows']],
    ['nomad without containers', nomad({ driver: 'raw_exec', runtime: 'runsc' }), []],
    ['k8s', k8s(), ['docker']],
    ['k8s with a hardened class', k8s({ runtimeClass: 'kata-qemu', gpu: 2 }), ['docker', 'gpu', 'sandbox']],
    ['local', local(), []],
    ['local with a declared capability', local({ capabilities: ['browser'] }), ['browser']],
  ])('of %s', (_title, spec, want) => {
    const found = derive(spec);
    expect(found).toEqual(want);
    expect(derive({ ...spec, capabilities: found })).toEqual(found);
  });
});

describe('siteFaults', () => {
  const sandbox = { placement: { isolation: 'sandbox' } };
  const none = { network: { mode: 'none' } };
  const allowlist = { network: { mode: 'allowlist', allowedHosts: ['x.test'] } };
  const listed = { ...FLAGS, networkPolicyClusters: ['https://kube.example.test:6443', 'prod'] };
  const bySecret = { kubeconfigSecret: undefined, authSecret: 'T' };

  test.each([
    ['nothing declared, on local', {}, local()],
    ['nothing declared, on nomad', {}, nomad()],
    ['E49: an open network', { network: { mode: 'public' } }, k8s()],
    ['E49: no network on a listed cluster', none, k8s({ ...bySecret, server: 'https://kube.example.test:6443' })],
    [
      'E49: no network on one that is written otherwise',
      none,
      k8s({ ...bySecret, server: 'https://KUBE.example.test:6443/' }),
    ],
    [
      'E49: no network on the one that a kubeconfig has to agree with',
      none,
      k8s({ server: 'https://kube.example.test:6443' }),
    ],
    ['E49: no network on a listed context', none, k8s({ kubeconfigSecret: undefined, context: 'prod' })],
    ['CPU with a clock', { resources: { cpu: 500 } }, nomad({ cpuMhzPerCore: 2_400 })],
    ['CPU on k8s', { resources: { cpu: 500 } }, k8s()],
    ['CPU and memory on local', { resources: { cpu: 500, memoryMb: 64 } }, local()],
    ['CPU on raw_exec', { resources: { cpu: 500 } }, nomad({ driver: 'raw_exec' })],
    ['GPUs where there are some', { resources: { gpu: 4 } }, nomad({ gpu: 1 })],
    ['a sandbox where there is one', sandbox, k8s({ runtimeClass: 'gvisor' })],
    ['windows where it is declared', { placement: { os: 'windows' } }, nomad({ capabilities: ['os-windows'] })],
    ['linux on local', { placement: { os: 'linux' } }, local()],
    ['a browser where it is declared', { env: { kind: 'browser' } }, local({ capabilities: ['browser'] })],
  ])('has none for %s', (_title, own, spec) => {
    expect(siteFaults(aCase(own), aHarness(), spec, listed)).toEqual([]);
  });

  test.each([
    [
      'GPUs nobody has',
      { resources: { gpu: 1 } },
      {},
      k8s(),
      'CAPABILITY_MISSING',
      'resources.gpu',
      'needs capability gpu; runtime kube@1 has docker',
    ],
    [
      'GPUs of the harness',
      {},
      { resources: { gpu: 1 } },
      nomad(),
      'CAPABILITY_MISSING',
      'resources.gpu',
      'needs capability gpu',
    ],
    [
      'GPUs on local, whatever it declares',
      { resources: { gpu: 1 } },
      {},
      local({ capabilities: ['gpu'] }),
      'BAD_SPEC',
      'resources.gpu',
      'local cannot give GPUs',
    ],
    [
      'a browser',
      { env: { kind: 'browser' } },
      {},
      local(),
      'CAPABILITY_MISSING',
      'env.kind',
      'needs capability browser; runtime desk@1 has none',
    ],
    [
      'a desktop',
      { env: { kind: 'os-use' } },
      {},
      k8s(),
      'CAPABILITY_MISSING',
      'env.kind',
      'needs capability computer-use',
    ],
    [
      'less memory than Nomad gives',
      { resources: { memoryMb: 9 } },
      {},
      nomad(),
      'BAD_SPEC',
      'resources.memoryMb',
      '9 MB is less than the 10 MB',
    ],
    ['a sandbox', sandbox, {}, nomad(), 'CAPABILITY_MISSING', 'placement.isolation', 'needs capability sandbox'],
    [
      'a sandbox on local, whatever it declares',
      sandbox,
      {},
      local({ capabilities: ['sandbox'] }),
      'BAD_SPEC',
      'placement.isolation',
      'local cannot isolate',
    ],
    [
      'macos',
      { placement: { os: 'macos' } },
      {},
      nomad(),
      'CAPABILITY_MISSING',
      'placement.os',
      'needs capability os-macos',
    ],
    [
      'windows on local',
      { placement: { os: 'windows' } },
      {},
      local(),
      'BAD_SPEC',
      'placement.os',
      'local runs jobs on linux',
    ],
    [
      'CPU without a clock',
      { resources: { cpu: 500 } },
      {},
      nomad(),
      'BAD_SPEC',
      'resources.cpu',
      'no `cpuMhzPerCore`',
    ],
    [
      'CPU of the harness without a clock',
      {},
      { resources: { cpu: 500 } },
      nomad({ driver: 'exec' }),
      'BAD_SPEC',
      'resources.cpu',
      '500 millicores',
    ],
    ['no network on local', none, {}, local(), 'BAD_SPEC', 'network.mode', 'local cannot enforce mode none'],
    [
      'no network on nomad',
      none,
      {},
      nomad(),
      'BAD_SPEC',
      'network.mode',
      'nomad with driver docker cannot enforce mode none',
    ],
    [
      'no network on a cluster that is not listed',
      none,
      {},
      k8s(),
      'BAD_SPEC',
      'network.mode',
      'EVERDICT_NETWORK_POLICY_CLUSTERS',
    ],
    [
      'E49: no network where a kubeconfig leads that nobody can see',
      none,
      {},
      k8s({ context: 'prod' }),
      'BAD_SPEC',
      'network.mode',
      'where `kubeconfigSecret` leads is known only if `server` says it, too',
    ],
    [
      'E49: no network on another server of the same proxy',
      none,
      {},
      k8s({ ...bySecret, server: 'https://kube.example.test:6443/k8s/clusters/b' }),
      'BAD_SPEC',
      'network.mode',
      'EVERDICT_NETWORK_POLICY_CLUSTERS',
    ],
    [
      'E49: no network on a server beside the name of a listed context',
      none,
      {},
      k8s({ ...bySecret, server: 'https://other.example.test', context: 'prod' }),
      'BAD_SPEC',
      'network.mode',
      'EVERDICT_NETWORK_POLICY_CLUSTERS',
    ],
    ['an allowlist on k8s', allowlist, {}, k8s(), 'BAD_SPEC', 'network.mode', 'cannot enforce mode allowlist'],
    ['an allowlist on local', allowlist, {}, local(), 'BAD_SPEC', 'network.mode', 'cannot enforce mode allowlist'],
  ])('refuses %s', (_title, own, harness, spec, code, path, message) => {
    const faults = siteFaults(aCase(own), aHarness(harness), spec, listed);
    expect(faults).toEqual([{ code, path, message: expect.stringContaining(message) }]);
  });

  test('refuses a service harness where no topology can run', () => {
    expect(siteFaults(aCase(), aService, nomad(), FLAGS)).toEqual([
      { code: 'CAPABILITY_MISSING', path: '', message: 'needs capability topology; runtime rack@1 has docker' },
    ]);
    expect(siteFaults(aCase(), aService, nomad({ traceSource: 'http://trace.example.test' }), FLAGS)).toEqual([]);
  });

  test('names everything a runtime lacks', () => {
    const evalCase = aCase({ env: { kind: 'os-use', os: 'windows' }, resources: { gpu: 1 }, ...sandbox, ...none });
    const paths = siteFaults(evalCase, aHarness(), nomad(), FLAGS).map(({ path }) => path);
    expect(paths).toEqual(['network.mode', 'resources.gpu', 'env.kind', 'env.os', 'placement.isolation']);
  });
});

describe('unenforcedAxes', () => {
  test.each([
    ['local', local(), ['cpu', 'memoryMb']],
    ['nomad raw_exec', nomad({ driver: 'raw_exec' }), ['cpu', 'memoryMb']],
    ['nomad docker', nomad(), []],
    ['k8s', k8s(), []],
  ])('on %s', (_title, spec, want) => {
    expect(unenforcedAxes({ resources: { cpu: 500 } }, { resources: { memoryMb: 64 } }, spec)).toEqual(want);
    expect(unenforcedAxes({}, {}, spec)).toEqual([]);
  });
});

describe('runtimeFaults', () => {
  test.each([
    ['local', local(), 'kind', 'EVERDICT_ALLOW_LOCAL_RUNTIMES=1'],
    ['exec', nomad({ driver: 'exec' }), 'driver', 'EVERDICT_ALLOW_UNISOLATED_DRIVERS=1'],
    ['raw_exec', nomad({ driver: 'raw_exec' }), 'driver', 'EVERDICT_ALLOW_UNISOLATED_DRIVERS=1'],
    [
      'a context, even next to a kubeconfig',
      k8s({ context: 'prod' }),
      'context',
      'EVERDICT_ALLOW_AMBIENT_KUBECONFIG=1',
    ],
  ])('name the setting that would allow %s', (_title, spec, path, setting) => {
    expect(runtimeFaults(spec, NO_FLAGS)).toEqual([{ path, message: expect.stringContaining(setting) }]);
    expect(runtimeFaults(spec, FLAGS)).toEqual([]);
  });

  test.each([
    ['docker', nomad()],
    ['a kubeconfig', k8s()],
  ])('are none for %s', (_title, spec) => {
    expect(runtimeFaults(spec, NO_FLAGS)).toEqual([]);
  });
});
