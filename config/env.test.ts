import { readEnv } from './env.js';

const withAddress = (address?: string) =>
  readEnv({ DATABASE_URL: 'postgres://x', EVERDICT_METRICS_ADDRESS: address }).EVERDICT_METRICS_ADDRESS;

test.each([
  [undefined, { host: '127.0.0.1', port: 0 }],
  ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:9464', { host: '::1', port: 9464 }],
])('metrics are served at %s', (address, expected) => {
  expect(withAddress(address)).toEqual(expected);
});

test.each(['0.0.0.0:9464', '10.0.0.1:9464', '127.0.0.1', ':9464', '9464', '127.0.0.1:65536', '127.0.0.1:x'])(
  'metrics are not served at %s, which the refusal names',
  (address) => {
    expect(() => withAddress(address)).toThrow(`EVERDICT_METRICS_ADDRESS: is "${address}"`);
  },
);

test.each([
  undefined,
  '',
  'everdict',
  'mysql://u:secret@h/db',
  'postgres://u:se#cret@h/db',
  'postgres://u:secret%@h/db',
])('the database %s is refused with the form it has, and without its password', (url) => {
  const read = () => readEnv({ DATABASE_URL: url });
  expect(read).toThrow(/DATABASE_URL: is not .*postgres:\/\/user:password@host:port\/database/);
  expect(read).not.toThrow(/se#?cret/);
});

test('networks that are opened are read, and a mistake in them is named', () => {
  const opened = (list?: string) => readEnv({ DATABASE_URL: 'postgres://x', EVERDICT_EGRESS_ALLOW: list });
  expect(opened().EVERDICT_EGRESS_ALLOW).toEqual([]);
  expect(opened('10.0.0.0/8, [fd00::/8]:6443').EVERDICT_EGRESS_ALLOW).toHaveLength(2);
  expect(() => opened('10.0.0.0/8,10.0.0.5/8')).toThrow('EVERDICT_EGRESS_ALLOW: "10.0.0.5/8" is not the address');
});
