import type { K8sRuntimeSpec } from '../contracts/runtime.js';
import { aCase, aHarness, aK8sRuntime, aNomadRuntime } from '../test/builders.js';
import { runtimeFaults, siteFaults } from './capabilities.js';

const FLAGS = { allowLocalRuntimes: false, allowUnisolatedDrivers: true, allowAmbientKubeconfig: false };

const faultsOf = (parts: Record<string, unknown>) => runtimeFaults(aK8sRuntime(parts) as K8sRuntimeSpec, FLAGS);
const fault = (path: string, message: string) => ({ path, message: expect.stringContaining(message) });

test('a runtime whose every field is one that Kubernetes takes', () => {
  const longest = 'x'.repeat(63);
  expect(
    faultsOf({
      namespace: longest,
      runtimeClass: 'kata-qemu.example',
      image: 'registry.example:5000/a:1',
      nodeSelector: { pool: '', 'example.com/A_b.c': 'X_y.z', [`${longest}/${longest}`]: longest },
    }),
  ).toEqual([]);
});

test.each([
  ['namespace', { namespace: 'Evals' }, 'namespace'],
  ['namespace', { namespace: 'a.b' }, 'namespace'],
  ['namespace', { namespace: 'x'.repeat(64) }, 'at most 63'],
  ['runtimeClass', { runtimeClass: 'gVisor' }, 'RuntimeClass'],
  ['runtimeClass', { runtimeClass: 'a_b' }, 'RuntimeClass'],
  ['image', { image: 'Debian:12' }, 'capital letters'],
  ['nodeSelector.pool', { nodeSelector: { pool: 'team/a' } }, 'a value that no label has'],
  ['nodeSelector.pool', { nodeSelector: { pool: '-a' } }, 'a value that no label has'],
  ['nodeSelector["a b"]', { nodeSelector: { 'a b': 'c' } }, 'a key that no label has'],
  ['nodeSelector["/a"]', { nodeSelector: { '/a': 'c' } }, 'prefix'],
  ['nodeSelector["A/b"]', { nodeSelector: { 'A/b': 'c' } }, 'prefix'],
  ['nodeSelector["a/b/c"]', { nodeSelector: { 'a/b/c': 'd' } }, 'slash'],
  ['nodeSelector["a/"]', { nodeSelector: { 'a/': 'c' } }, 'its name is'],
])('K15 %s of %j is refused by its place', (path, parts, message) => {
  expect(faultsOf(parts)).toEqual([fault(path, message)]);
});

test.each([
  [{ operator: 'Exists' }],
  [{ key: 'a' }],
  [{ key: 'a', operator: 'Exists', value: '' }],
  [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' }],
  [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 0 }],
])('a toleration %j is taken', (toleration) => {
  expect(faultsOf({ tolerations: [toleration] })).toEqual([]);
});

test.each([
  [{}, 'key', 'is missing'],
  [{ operator: 'Equal', value: 'x' }, 'key', 'operator Exists'],
  [{ operator: 'Exists', value: 'x' }, 'value', 'use operator Equal'],
  [{ key: 'a', value: 'b c' }, 'value', 'no label has'],
  [{ key: 'a b', operator: 'Exists' }, 'key', 'no label has'],
  [{ key: 'a', tolerationSeconds: 3 }, 'tolerationSeconds', 'NoExecute'],
  [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 3 }, 'tolerationSeconds', 'NoExecute'],
])('a toleration %j is refused by its %s', (toleration, field, message) => {
  const tolerations = [{ key: 'fine', operator: 'Exists' }, toleration];
  expect(faultsOf({ tolerations })).toEqual([fault(`tolerations[1].${field}`, message)]);
});

describe('a case', () => {
  const refused = (own: object, harness: object = {}, runtime = aK8sRuntime()) =>
    siteFaults(aCase({ ...own }), aHarness({ ...harness }), runtime, FLAGS);
  const bad = (path: string, message: string) => ({ code: 'BAD_SPEC', ...fault(path, message) });

  test.each([
    ['its image', { image: 'a/B:1' }, {}, 'image', 'a/B:1 has capital letters'],
    ['the image of its harness', {}, { image: 'a:.b' }, 'image', 'a:.b has a tag'],
    ['its memory', { resources: { memoryMb: 5 } }, {}, 'resources.memoryMb', '5 MB is less than the 6 MB'],
    ['the memory of its harness', {}, { resources: { memoryMb: 1 } }, 'resources.memoryMb', '1 MB is less'],
  ])('is refused for %s', (_, own, harness, path, message) => {
    expect(refused(own, harness)).toEqual([bad(path, message)]);
  });

  test('is taken where its own word comes first', () => {
    expect(refused({ image: 'a:1', resources: { memoryMb: 6 } }, { image: 'B', resources: { memoryMb: 1 } })).toEqual(
      [],
    );
  });

  test('is not looked at like this by other clusters', () => {
    expect(refused({ image: 'a/B:1' }, {}, aNomadRuntime())).toEqual([]);
  });
});
