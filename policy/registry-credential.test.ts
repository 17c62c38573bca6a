import { registryCredentialOf, registryHosts } from './registry-credential.js';

const HUB = ['index.docker.io', 'registry-1.docker.io', 'docker.io'];

test.each([
  ['debian:12', HUB],
  ['library/debian', HUB],
  ['index.docker.io/library/debian', HUB],
  ['ghcr.io/owner/image@sha256:00', ['ghcr.io']],
  ['GHCR.io/owner/image', ['ghcr.io']],
  ['a.example.evil.example/x', ['a.example.evil.example']],
  ['registry.example:5000/a/b:1', ['registry.example:5000']],
  ['registry.example:443/a', ['registry.example']],
  ['localhost/a', ['localhost']],
  ['user@evil.example/a', []],
])('C27 %s asks for a secret of its registry only', (image, hosts) => {
  expect(registryHosts(image)).toEqual(hosts);
});

test.each([
  ['robot:pass:word', { username: 'robot', password: 'pass:word' }],
  ['ghp_alone', { username: 'token', password: 'ghp_alone' }],
])('%s is a user and a password', (value, want) => {
  expect(registryCredentialOf(value)).toEqual(want);
});
