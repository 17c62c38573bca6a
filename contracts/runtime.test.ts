import { fieldErrors } from './issues.js';
import { RuntimeSpec } from './runtime.js';

const local = { kind: 'local', id: 'desk', version: '1.0.0' };
const nomad = {
  kind: 'nomad',
  id: 'rack-a',
  version: '1.0.0',
  addr: 'http://nomad.example.test:4646',
  image: 'registry.example.test/runner:1',
};
const k8s = {
  kind: 'k8s',
  id: 'kube-a',
  version: '1.0.0',
  image: 'registry.example.test/runner:1',
  server: 'https://kube.example.test:6443',
  authSecret: 'KUBE_TOKEN',
  kubeconfigSecret: 'KUBECONFIG_PROD',
};

function faults(input: unknown): string[] {
  const parsed = RuntimeSpec.safeParse(input);
  if (parsed.success) return [];
  return fieldErrors(parsed.error, input, RuntimeSpec).map(({ path, message }) => `${path}: ${message}`);
}

describe('RuntimeSpec', () => {
  test.each([
    ['the least of each kind: local', local],
    ['nomad', nomad],
    ['k8s', k8s],
    ['a version that is no semver', { ...local, version: 'v1' }],
    ['exec without an image', { ...nomad, image: undefined, driver: 'exec' }],
    ['raw_exec with an image it will ignore', { ...nomad, driver: 'raw_exec' }],
    ['a constraint without operator', { ...nomad, constraints: [{ attribute: 'node.class', value: 'gpu' }] }],
    [
      'k8s by context alone',
      { ...k8s, server: undefined, authSecret: undefined, kubeconfigSecret: undefined, context: 'prod' },
    ],
    ['k8s by kubeconfig alone', { ...k8s, server: undefined, authSecret: undefined }],
    ['k8s by server and token', { ...k8s, kubeconfigSecret: undefined }],
    [
      'a browser image next to a trace source',
      { ...k8s, traceSource: 'http://trace.example.test', browserImage: 'b:1' },
    ],
    ['a private CA', { ...nomad, caCert: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' }],
    ['names that objects inherit', { ...k8s, nodeSelector: { constructor: 'a', hasOwnProperty: 'b' } }],
    ['24 h of placement patience', { ...nomad, placementPatienceSec: 86_400 }],
  ])('accepts %s', (_title, input) => {
    expect(faults(input)).toEqual([]);
  });

  test.each([
    ['an empty version', { ...local, version: '' }, 'version: is 1 to 63 characters'],
    ['a version of blanks', { ...local, version: '   ' }, 'version: is 1 to 63 characters'],
    ['the version `latest`', { ...local, version: 'latest' }, 'version: `latest` is a way to ask'],
    ['the id `__proto__`', { ...local, id: '__proto__' }, 'id: is 1 to 63 characters'],
    ['the id `auto`', { ...nomad, id: 'auto' }, 'id: `auto` is a way to ask'],
    ['no kind', { id: 'desk', version: '1' }, 'kind: expected one of local, nomad, k8s'],
    [
      'a misspelt kind',
      { ...nomad, kind: 'nomda' },
      'kind: expected one of local, nomad, k8s, received "nomda"; did you mean `nomad`?',
    ],
    [
      'a misspelt key',
      { ...local, maxConcurent: 3 },
      'maxConcurent: is not a known key; did you mean `maxConcurrent`?',
    ],
    ['an unknown key that is near to none', { ...k8s, hostNetwork: true }, 'hostNetwork: is not a known key'],
    ['a key of another kind', { ...local, gpu: 1 }, 'gpu: is not a known key'],
    ['an unknown capability', { ...local, capabilities: ['gpus'] }, 'capabilities[0]: expected one of git, docker'],
    ['no slots', { ...local, maxConcurrent: 0 }, 'maxConcurrent: is 0, less than the required 1'],
    ['half a slot', { ...local, maxConcurrent: 1.5 }, 'maxConcurrent: expected whole number, received 1.5'],
    ['text for a number', { ...local, memoryBudgetMb: '4096' }, 'memoryBudgetMb: expected number, received string'],
    [
      'more than a day of patience',
      { ...k8s, placementPatienceSec: 86_401 },
      'placementPatienceSec: is 86401, more than the allowed 86400',
    ],
    ['nomad without an address', { ...nomad, addr: undefined }, 'addr: is required'],
    ['an address that is no URL', { ...nomad, addr: 'nomad:4646' }, 'addr: is not an http(s) URL'],
    ['an address with a credential', { ...nomad, addr: 'http://me:secret@nomad' }, 'addr: holds a credential'],
    ['docker without an image', { ...nomad, image: undefined }, 'image: is required with driver docker'],
    [
      'podman without an image',
      { ...nomad, image: undefined, driver: 'podman' },
      'image: is required with driver podman',
    ],
    [
      'an unknown constraint operator',
      { ...nomad, constraints: [{ attribute: 'a', operator: '~' }] },
      'constraints[0].operator: expected one of',
    ],
    ['a token without a server', { ...k8s, server: undefined, context: 'prod' }, 'authSecret: needs `server`'],
    [
      'no way to authenticate',
      { ...k8s, authSecret: undefined, kubeconfigSecret: undefined },
      ': no way to authenticate',
    ],
    ['a browser image without a trace source', { ...nomad, browserImage: 'b:1' }, 'browserImage: needs `traceSource`'],
    ['a CA that is no PEM', { ...nomad, caCert: 'MIIB' }, 'caCert: is not a PEM certificate'],
    ['text instead of an object', 'desk', ': expected object, received string'],
    ['nothing', null, ': expected object, received null'],
  ])('refuses %s', (_title, input, want) => {
    expect(faults(input)).toEqual([expect.stringContaining(want)]);
  });

  test('fills in what is absent', () => {
    expect(RuntimeSpec.parse(nomad)).toMatchObject({
      driver: 'docker',
      datacenters: ['*'],
      placementPatienceSec: 120,
      tags: [],
    });
  });

  test('accepts its own output unchanged', () => {
    for (const spec of [local, nomad, k8s].map((input) => RuntimeSpec.parse(input))) {
      expect(RuntimeSpec.parse(spec)).toEqual(spec);
    }
  });
});
