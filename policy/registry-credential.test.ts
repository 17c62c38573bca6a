import { registryOf, registrySecretFor } from './registry-credential.js';

test.each([
  ['debian:12', 'docker.io'],
  ['library/debian', 'docker.io'],
  ['index.docker.io/library/debian', 'docker.io'],
  ['ghcr.io/owner/image@sha256:00', 'ghcr.io'],
  ['GHCR.io/owner/image', 'ghcr.io'],
  ['registry.example:5000/a/b:1', 'registry.example:5000'],
  ['registry.example:443/a', 'registry.example'],
  ['localhost/a', 'localhost'],
  ['user@evil.example/a', undefined],
])('%s comes from %s', (image, registry) => {
  expect(registryOf(image)).toBe(registry);
});

test('an image gets the secret of its registry only', () => {
  const a = { name: 'a', bindings: ['a.example'] };
  const hub = { name: 'hub', bindings: ['registry-1.docker.io'] };
  expect(registrySecretFor('a.example/x:1', [hub, a])).toBe(a);
  expect(registrySecretFor('debian', [a, hub])).toBe(hub);
  expect(registrySecretFor('a.example.evil.example/x', [a, hub])).toBeUndefined();
  expect(registrySecretFor('a.example:5000/x', [a, hub])).toBeUndefined();
});
