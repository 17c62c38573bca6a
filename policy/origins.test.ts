import { hostOf, hostOfUrl, isBoundTo, originOf } from './origins.js';

test.each([
  ['https://nomad.example:443/v1', 'https://nomad.example'],
  ['HTTPS://Nomad.Example/', 'https://nomad.example'],
  ['https://nomad.example./', 'https://nomad.example'],
  ['http://nomad.example:80', 'http://nomad.example'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['http://0x7f.1:4646', 'http://127.0.0.1:4646'],
  ['https://[::1]:6443/x', 'https://[0:0:0:0:0:0:0:1]:6443'],
])('%s is of origin %s', (address, origin) => {
  expect(isBoundTo([origin], address)).toBe(true);
});

test.each([
  ['http://nomad.example', 'https://nomad.example'],
  ['https://nomad.example:4646', 'https://nomad.example'],
  ['https://nomad.example.evil.example', 'https://nomad.example'],
  ['https://nomad.example@evil.example', 'https://nomad.example'],
  ['https://evil.example#@nomad.example', 'https://nomad.example'],
  ['https://user@nomad.example', 'https://nomad.example'],
  ['https://sub.nomad.example', 'https://nomad.example'],
  ['ftp://nomad.example', 'ftp://nomad.example'],
  ['nomad.example', 'nomad.example'],
])('%s is not of origin %s', (address, origin) => {
  expect(isBoundTo([origin], address)).toBe(false);
});

test('the host of an address has its port', () => {
  expect(hostOfUrl('https://Git.Example/a/b.git')).toBe(hostOf('git.example'));
  expect(hostOfUrl('http://git.example/a')).not.toBe(hostOf('git.example'));
  expect(hostOfUrl('http://127.0.0.1:3000/a')).toBe(hostOf('127.0.0.1:3000'));
  const noHosts = ['a/b', 'u@h', '', 'a b', 'h:99999', '*', '*.example', 'a..b', '!'];
  expect(noHosts.filter((host) => hostOf(host) !== undefined)).toEqual([]);
  expect(originOf('https://')).toBeUndefined();
});
