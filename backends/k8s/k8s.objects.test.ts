import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { effectiveResources } from '../../policy/demand.js';
import { aCase, aHarness, aK8sRuntime, PATIENCE } from '../../test/builders.js';
import type { AllocationRef, Job } from '../backend.js';
import { attestedOf, objectsOf, ownedBy } from './k8s.objects.js';

const ALLOCATION: AllocationRef = { name: 'lab-run-01-2', nonce: '00ff' };
const LABELS = {
  app: 'everdict',
  'everdict.dev/deployment': 'lab',
  'everdict.dev/workspace': 'default',
  'everdict.dev/scorecard': 'sc_1',
  'everdict.dev/run': 'run_01',
  'everdict.dev/attempt': '2',
  'everdict.dev/case': 'case-1',
  'everdict.dev/expires': '2026-01-02T00.00.00.000Z',
  'everdict.dev/allocation': 'lab-run-01-2',
};
const ANNOTATIONS = { 'everdict.dev/workspace': 'default', 'everdict.dev/case': 'case-1' };
const METADATA = { name: 'lab-run-01-2', labels: LABELS, annotations: ANNOTATIONS };
const fromSecret = (name: string) => ({
  name,
  valueFrom: { secretKeyRef: { name: 'lab-run-01-2', key: `env.${name}` } },
});
const OWN = [fromSecret('EVERDICT_ATTEMPT'), fromSecret('EVERDICT_NONCE')];
const base64 = (text: string) => Buffer.from(text).toString('base64');

const aSpec = (parts: Record<string, unknown> = {}) => aK8sRuntime(parts) as K8sRuntimeSpec;

const aJob = (parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hello\n')]]),
  image: 'debian:12',
  resources: {},
  lifeMs: 60_001,
  owner: {
    deployment: 'lab',
    workspaceId: 'default',
    scorecardId: 'sc_1',
    runId: 'run_01',
    caseId: 'case-1',
    attempt: 2,
    expiresAt: Date.UTC(2026, 0, 2),
  },
  ...parts,
});

const render = (parts: Partial<Job> = {}, spec: Record<string, unknown> = {}) => {
  const objects = objectsOf(aJob(parts), ALLOCATION, aSpec(spec), PATIENCE);
  const pod = objects.job.spec.template.spec;
  return { ...objects, pod, main: pod.containers[0] };
};

test('the Job of an attempt: suspended, started once, with all that tells whose it is', () => {
  const { networkPolicy, job } = render();
  expect(networkPolicy).toBeUndefined();
  expect(job).toEqual({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: METADATA,
    spec: {
      suspend: true,
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      podReplacementPolicy: 'Failed',
      ttlSecondsAfterFinished: 86_400,
      template: {
        metadata: {
          labels: { ...LABELS, 'sidecar.istio.io/inject': 'false', 'kuma.io/sidecar-injection': 'disabled' },
          annotations: {
            ...ANNOTATIONS,
            'sidecar.istio.io/inject': 'false',
            'linkerd.io/inject': 'disabled',
            'kuma.io/sidecar-injection': 'disabled',
            'consul.hashicorp.com/connect-inject': 'false',
            'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
            'karpenter.sh/do-not-disrupt': 'true',
          },
        },
        spec: {
          restartPolicy: 'Never',
          // 120 s to be placed, 900 s to start, and its life, rounded up.
          activeDeadlineSeconds: 1_081,
          terminationGracePeriodSeconds: 5,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'main',
              image: 'debian:12',
              imagePullPolicy: 'IfNotPresent',
              command: ['/bin/sh', '/everdict/payload/wrapper.sh'],
              args: ['/everdict/payload', '/everdict/state'],
              env: OWN,
              securityContext: { allowPrivilegeEscalation: false },
              volumeMounts: [
                { name: 'payload', mountPath: '/everdict/payload', readOnly: true },
                { name: 'state', mountPath: '/everdict/state' },
              ],
            },
          ],
          volumes: [
            {
              name: 'payload',
              secret: {
                secretName: 'lab-run-01-2',
                defaultMode: 0o444,
                items: [{ key: 'wrapper.sh', path: 'wrapper.sh' }],
              },
            },
            { name: 'state', emptyDir: {} },
          ],
        },
      },
    },
  });
});

test('K13 a pod says to every mesh that it wants no proxy beside it', () => {
  const { labels, annotations } = render().job.spec.template.metadata;
  expect([labels['sidecar.istio.io/inject'], annotations['linkerd.io/inject']]).toEqual(['false', 'disabled']);
  expect([annotations['sidecar.istio.io/inject'], annotations['consul.hashicorp.com/connect-inject']]).toEqual([
    'false',
    'false',
  ]);
  expect([labels, annotations].map((each) => each['kuma.io/sidecar-injection'])).toEqual(['disabled', 'disabled']);
});

test('its files and its nonce are in a Secret, which goes with the Job', () => {
  const { secrets } = render();
  expect(secrets).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: METADATA,
      type: 'Opaque',
      immutable: true,
      data: {
        'wrapper.sh': base64('echo hello\n'),
        'env.EVERDICT_ATTEMPT': base64('lab-run-01-2'),
        'env.EVERDICT_NONCE': base64('00ff'),
      },
    },
  ]);
  const [secret] = secrets;
  expect(secret && ownedBy(secret, { name: 'lab-run-01-2', uid: 'u-1' })).toEqual({
    ...secret,
    metadata: {
      ...METADATA,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'lab-run-01-2', uid: 'u-1' }],
    },
  });
});

test('files arrive byte for byte', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const [secret] = render({ payload: new Map([['all', bytes]]) }).secrets;
  expect([...Buffer.from(secret?.data.all ?? '', 'base64')]).toEqual([...bytes]);
});

describe('E47 every kind of pod', () => {
  const GIT = { payload: new Map([['git-credential', Buffer.from('x')]]) };
  const PROGRAM = { program: { entrypoint: ['x'], env: {} } };
  const REGISTRY = { registry: { username: 'u', password: 'p' } };

  test.each([
    ['of the wrapper', {}],
    ['of a program', PROGRAM],
    ['of a private repository', GIT],
    ['of a private image without a network', { ...REGISTRY, network: 'none' as const }],
  ])('%s has no token of a service account, and gains no privileges', (_, parts) => {
    const { pod } = render(parts, { gpu: 1, runtimeClass: 'gvisor' });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false });
    }
    expect(Object.keys(pod)).not.toEqual(expect.arrayContaining(['hostNetwork']));
  });

  test('and no runtime can ask for the network of its node', () => {
    expect(() => aSpec({ hostNetwork: true })).toThrow(/hostNetwork/);
  });
});

describe('images', () => {
  test.each([
    ['debian:12', 'IfNotPresent'],
    ['registry.example:5000/a/b:1.2', 'IfNotPresent'],
    ['debian@sha256:00', 'IfNotPresent'],
    ['debian:latest', 'Always'],
    ['debian', 'Always'],
    ['registry.example:5000/a/b', 'Always'],
    ['registry.example:5000/a/b:latest', 'Always'],
    ['a/b:latest@sha256:00', 'IfNotPresent'],
    ['a:1/latest:2', 'IfNotPresent'],
  ])('%s is pulled %s: what has no tag of its own may have changed', (image, policy) => {
    expect(render({ image }).main).toMatchObject({ image, imagePullPolicy: policy });
  });

  test('a case without one runs in that of its runtime', () => {
    expect(render({ image: undefined }, { image: 'alpine:3' }).main.image).toBe('alpine:3');
  });
});

describe('C27 the credential of a registry', () => {
  const registry = { username: 'rob', password: 'p:4$s' };
  const auth = base64('rob:p:4$s');

  test.each([
    ['ghcr.io/owner/image:1', 'ghcr.io'],
    ['registry.example:5000/a', 'registry.example:5000'],
    ['registry.example:443/a', 'registry.example:443'],
    ['localhost/a', 'localhost'],
    ['debian:12', 'https://index.docker.io/v1/'],
    ['docker.io/library/debian', 'https://index.docker.io/v1/'],
    ['registry-1.docker.io/library/debian', 'registry-1.docker.io'],
  ])('for %s is where a kubelet looks for it, and in no other object', (image, host) => {
    const { job, secrets, pod } = render({ image, registry });
    const pull = secrets[1];
    expect(pull).toMatchObject({
      metadata: { name: 'lab-run-01-2-ip', labels: LABELS },
      type: 'kubernetes.io/dockerconfigjson',
      immutable: true,
    });
    const config = Buffer.from(pull?.data['.dockerconfigjson'] ?? '', 'base64').toString();
    expect(JSON.parse(config)).toEqual({ auths: { [host]: { ...registry, auth } } });
    expect(pod.imagePullSecrets).toEqual([{ name: 'lab-run-01-2-ip' }]);
    for (const value of ['p:4$s', auth, base64('p:4$s')]) {
      expect(JSON.stringify([job, secrets[0]])).not.toContain(value);
    }
  });

  test('is no object where there is none for the host of the image', () => {
    const { secrets, pod } = render();
    expect(secrets).toHaveLength(1);
    expect(pod).not.toHaveProperty('imagePullSecrets');
  });
});

describe('C25 what is secret', () => {
  const payload = new Map([
    ['wrapper.sh', Buffer.from('')],
    ['git-credential', Buffer.from('password=s3cret\n')],
  ]);

  test('is in Secrets alone: an environment is a list of names', () => {
    const { job, main } = render({ payload, registry: { username: 'u', password: 'pa55' } });
    expect(main.env).toEqual(OWN);
    for (const value of ['s3cret', base64('password=s3cret\n'), 'pa55', '00ff', base64('00ff')]) {
      expect(JSON.stringify(job)).not.toContain(value);
    }
  });

  test('can be deleted by the job: where there is a credential of git, its files are a copy, in memory', () => {
    const { pod, main } = render({ payload, resources: { memoryMb: 64 } });
    const [init] = pod.initContainers ?? [];
    expect(init).toMatchObject({
      name: 'payload',
      image: 'debian:12',
      command: ['/bin/sh', '-c', `for file in "$$1"/*; do cat "$$file" >"$$2/$$\{file##*/}" || exit; done`, 'sh'],
      args: ['/everdict/given', '/everdict/payload'],
      resources: main.resources,
      volumeMounts: [
        { name: 'payload', mountPath: '/everdict/given', readOnly: true },
        { name: 'copy', mountPath: '/everdict/payload' },
      ],
    });
    expect(init).not.toHaveProperty('env');
    expect(main.volumeMounts).toEqual([
      { name: 'copy', mountPath: '/everdict/payload' },
      { name: 'state', mountPath: '/everdict/state' },
    ]);
    expect(pod.volumes).toContainEqual({ name: 'copy', emptyDir: { medium: 'Memory' } });
  });
});

describe('C21 programs', () => {
  const program = (entrypoint: string[], env: Record<string, string> = {}) => ({
    payload: new Map([['job.json', Buffer.from('{}')]]),
    program: { entrypoint, env },
  });

  test('are started without a shell, in an empty directory; their variables are in the Secret, and no files of theirs', () => {
    const { job, secrets, pod, main } = render(program(['/bin/agent', '--fast'], { KEY: 's3cret$(X)' }));
    expect(main).toMatchObject({
      command: ['/bin/agent', '--fast'],
      args: ['/everdict/payload'],
      workingDir: '/everdict/state',
    });
    expect(main.env).toEqual([fromSecret('KEY'), ...OWN]);
    expect(secrets[0]?.data).toEqual({
      'job.json': base64('{}'),
      'env.KEY': base64('s3cret$(X)'),
      'env.EVERDICT_ATTEMPT': base64('lab-run-01-2'),
      'env.EVERDICT_NONCE': base64('00ff'),
    });
    expect(pod.volumes[0]).toMatchObject({ secret: { items: [{ key: 'job.json', path: 'job.json' }] } });
    expect(JSON.stringify(job)).not.toContain('s3cret');
  });

  test('are given their arguments as they were written', () => {
    const { main } = render(program(['$(HOME)', '$$(A)', '$x', '100%']));
    expect(main.command).toEqual(['$$(HOME)', '$$$$(A)', '$$x', '100%']);
  });

  test('are told no other nonce by their harness', () => {
    const { main, secrets } = render(program(['x'], { EVERDICT_NONCE: 'mine', EVERDICT_ATTEMPT: 'other' }));
    expect(new Set(main.env)).toEqual(new Set(OWN));
    expect(secrets[0]?.data['env.EVERDICT_NONCE']).toBe(base64('00ff'));
  });
});

describe('resources', () => {
  const asked = (at: { case?: object; harness?: object }, spec: Record<string, unknown>) => {
    const { cpu, ...rest } = effectiveResources(
      aCase({ resources: at.case }),
      aHarness({ resources: at.harness }),
      aSpec(spec),
    );
    return render({ resources: { ...rest, cpuMillicores: cpu } }, spec).main.resources;
  };
  const same = (amounts: object) => ({ limits: amounts, requests: amounts });

  test.each([
    ['nothing', {}, {}, undefined],
    ['CPU', { case: { cpu: 1_500 } }, {}, same({ cpu: '1500m' })],
    ['memory', { harness: { memoryMb: 256 } }, {}, same({ memory: '256Mi' })],
    ['what the runtime has', {}, { gpu: 2 }, same({ 'nvidia.com/gpu': '2' })],
    ['harness over runtime', { harness: { gpu: 4 } }, { gpu: 1 }, same({ 'nvidia.com/gpu': '4' })],
    ['case over harness', { case: { gpu: 3 }, harness: { gpu: 4 } }, {}, same({ 'nvidia.com/gpu': '3' })],
  ])('declared: %s, and so much is requested and is the limit', (_, at, spec, want) => {
    expect(asked(at, spec)).toEqual(want);
  });
});

test('a pod is placed where its runtime says, and its record repeats it', () => {
  const spec = {
    runtimeClass: 'gvisor',
    nodeSelector: { 'example.com/pool': 'evals' },
    tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
  };
  const { runtimeClass: runtimeClassName, ...rest } = spec;
  expect(render({}, spec).pod).toMatchObject({ runtimeClassName, ...rest });
  const job = aJob({ resources: { cpuMillicores: 500, gpu: 1 }, network: 'none' });
  const enforced = { cpu: { millicores: 500 }, gpu: 1, network: 'none' };
  expect(attestedOf(job, aSpec(spec))).toEqual({ image: 'debian:12', ...spec, enforced });
  expect(attestedOf(aJob(), aSpec({ nodeSelector: {}, tolerations: [] }))).toEqual({
    image: 'debian:12',
    enforced: {},
  });
  expect(Object.keys(render({}, { nodeSelector: {}, tolerations: [] }).pod)).toEqual(Object.keys(render().pod));
});

test('E49 where nothing is to be reached, a policy closes the network of that pod, and of no other', () => {
  const { networkPolicy, job } = render({ network: 'none' });
  expect(networkPolicy).toEqual({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: METADATA,
    spec: {
      podSelector: { matchLabels: { 'everdict.dev/allocation': 'lab-run-01-2' } },
      policyTypes: ['Egress'],
      egress: [],
    },
  });
  expect(job.spec.template.metadata.labels).toMatchObject(networkPolicy?.spec.podSelector.matchLabels ?? { no: '' });
});

describe('a payload that no Secret takes is refused', () => {
  const refused = (message: string) =>
    expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(message) });

  test('by its bytes', () => {
    const payload = (bytes: number) => ({ payload: new Map([['task', Buffer.alloc(bytes)]]) });
    expect(() => render(payload(1_048_577))).toThrow(refused('1048576'));
    expect(render(payload(1_048_560)).secrets).toHaveLength(1);
  });

  test('by its files', () => {
    const payload = (count: number) => ({
      payload: new Map(Array.from({ length: count }, (_, index) => [`file.${index}`, Buffer.from('')])),
    });
    expect(() => render(payload(1_001))).toThrow(refused('are 1001 files, and a Job of Kubernetes may have 1000'));
    expect(render(payload(1_000)).secrets).toHaveLength(1);
  });
});
