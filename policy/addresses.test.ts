import { isAdmitted, literalAddresses, parseAllowList } from './addresses.js';

const opened = (list: string) => {
  const { rules, faults } = parseAllowList(list);
  expect(faults).toEqual([]);
  return rules;
};

test.each([
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
  ['loopback', ['127.0.0.1', '127.255.255.255', '::1']],
  ['private', ['10.0.0.5', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff::1', 'fec0::1']],
  ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255', '100.100.100.200']],
  ['link-local', ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
  ['metadata', ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '192.0.0.192']],
  ['multicast and broadcast', ['224.0.0.1', '239.1.1.1', '255.255.255.255', 'ff02::1']],
  ['benchmarking', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
  ['an IPv4 address inside', ['::ffff:8.8.8.8', '::ffff:7f00:1', '::7f00:1', '::8.8.8.8', '::ffff:0:7f00:1']],
  ['a translated IPv4 address', ['64:ff9b::808:808', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:7f00::1']],
  ['reserved', ['240.0.0.1', '100::1', '5f00::1', '4000::1']],
  ['no address in its usual notation', ['0177.0.0.1', '127.1', '2130706433', '0x7f000001', 'example.com', '']],
])('closes by default: %s', (_title, addresses) => {
  expect(addresses.filter((address) => isAdmitted(address, 443, []))).toEqual([]);
});

test('the public internet is open', () => {
  const addresses = [
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::1111',
    '2a00::1',
  ];
  expect(addresses.filter((address) => !isAdmitted(address, 443, []))).toEqual([]);
});

test.each([
  ['10.1.0.0/16', ['10.1.0.0', '10.1.255.255'], ['10.0.255.255', '10.2.0.0', '127.0.0.1', '::ffff:10.1.0.1']],
  ['127.0.0.1', ['127.0.0.1'], ['127.0.0.2', '::1', '::ffff:127.0.0.1']],
  ['fd00::/8', ['fd00::1', 'fdff::1'], ['fc00::1', '::1', '10.0.0.1']],
  ['::1', ['::1'], ['::2', '127.0.0.1']],
  ['::ffff:0:0/96', ['::ffff:127.0.0.1'], ['127.0.0.1']],
  ['10.0.0.0/8, [fd00::]/8', ['10.9.9.9', 'fd01::1'], ['192.168.0.1']],
])('%s opens what it says and nothing else', (list, inside, outside) => {
  const rules = opened(list);
  expect(inside.filter((address) => !isAdmitted(address, 4646, rules))).toEqual([]);
  expect(outside.filter((address) => isAdmitted(address, 4646, rules))).toEqual([]);
});

test.each([
  ['127.0.0.0/8:4646', '127.0.0.1'],
  ['127.0.0.1:4646', '127.0.0.1'],
  ['[fd00::/8]:4646', 'fd00::1'],
  ['[fd00::]/8:4646', 'fd00::1'],
  ['[::1]:4646', '::1'],
])('%s opens one port', (list, address) => {
  const rules = opened(list);
  expect([4646, 4647, 80].map((port) => isAdmitted(address, port, rules))).toEqual([true, false, false]);
});

test.each([
  ['10.0.0.0/33', 'above /32'],
  ['[fd00::/129]', 'above /128'],
  ['10.0.0.5/8', '10.0.0.0/8 is'],
  ['fd00::1/8', 'fd00::/8 is'],
  ['127.0.0.1:0', 'port'],
  ['127.0.0.1:65536', 'port'],
  ['localhost', 'of the form'],
  ['0177.0.0.1/32', 'of the form'],
  ['10.0.0.0/8:', 'of the form'],
  ['fd00::/8:6443', 'of the form'],
  ['[10.0.0.0/8', 'of the form'],
  ['[fd00::/8]/8', 'of the form'],
  ['http://10.0.0.1', 'of the form'],
  ['*', 'of the form'],
])('%s is refused, named', (entry, why) => {
  const { rules, faults } = parseAllowList(`192.168.0.0/16,${entry}`);
  expect(rules).toHaveLength(1);
  expect(faults).toEqual([expect.stringContaining(JSON.stringify(entry))]);
  expect(faults[0]).toContain(why);
});

test.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['[::1]', ['::1']],
  ['localhost', ['127.0.0.1', '::1']],
  ['LOCALHOST.', ['127.0.0.1', '::1']],
  ['a.localhost', ['127.0.0.1', '::1']],
  ['metadata.google.internal.', ['169.254.169.254']],
  ['nomad.example.com', undefined],
])('%s stands for %j', (host, addresses) => {
  expect(literalAddresses(host)).toEqual(addresses);
});
