import { readEnv } from '../config/env.js';
import { Sealer } from './sealer.js';

const base64 = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const keysOf = (text: string | undefined) =>
  readEnv({ DATABASE_URL: 'postgres://x', EVERDICT_SECRETS_KEY: text }).EVERDICT_SECRETS_KEY;
const sealerOf = (text: string): Sealer => new Sealer(keysOf(text));
const PLACE = { workspaceId: 'default', name: 'token', use: 'cluster', bindings: ['https://a.example:443'] };

test('what one key sealed opens as long as that key is there, whichever seals now', () => {
  const sealed = sealerOf(`old:${base64(1)}`).seal(PLACE, 'S3cr3t ü');
  const open = (keys: string) => sealerOf(keys).open(PLACE, sealed);
  expect(open(`new:${base64(2)}, old:${base64(1)}`)).toEqual({ kind: 'open', value: 'S3cr3t ü' });
  expect(open(`new:${base64(2)}`)).toMatchObject({ kind: 'closed', reason: expect.stringContaining('key old') });
  expect(open(`old:${base64(3)}`)).toMatchObject({ kind: 'closed' });
});

test('the same value is sealed differently each time', () => {
  const sealer = sealerOf(`k:${base64(1)}`);
  expect(sealer.seal(PLACE, 'same').bytes).not.toEqual(sealer.seal(PLACE, 'same').bytes);
});

test.each([
  ['another workspace', { ...PLACE, workspaceId: 'other' }],
  ['another name', { ...PLACE, name: 'token2' }],
  ['another use', { ...PLACE, use: 'env' }],
  ['other bindings', { ...PLACE, bindings: ['https://evil.example:443'] }],
])('a sealed value that is moved to %s does not open', (_title, place) => {
  const sealer = sealerOf(`k:${base64(1)}`);
  expect(sealer.open(place, sealer.seal(PLACE, 'S3cr3t'))).toMatchObject({ kind: 'closed' });
});

test('a sealed value of which any byte changed, or is missing, does not open', () => {
  const sealer = sealerOf(`k:${base64(1)}`);
  const { keyId, bytes } = sealer.seal(PLACE, 'S3cr3t');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(sealer.open(PLACE, { keyId, bytes: changed })).toMatchObject({ kind: 'closed' });
    expect(sealer.open(PLACE, { keyId, bytes: bytes.subarray(0, at) })).toMatchObject({ kind: 'closed' });
  }
});

test.each([
  ['no colon', base64(7)],
  ['no base64', 'k:S3cr3t!S3cr3t'],
  ['a key that is too short', `k:${Buffer.alloc(31, 7).toString('base64')}`],
  ['a key id that may be the key', `${base64(7)}:k`],
  ['an empty entry', `k:${base64(7)},`],
  ['one id twice', `k:${base64(7)},k:${base64(8)}`],
])('keys with %s are refused by the place of the entry, and are not told', (_title, text) => {
  const read = () => keysOf(text);
  expect(read).toThrow(/EVERDICT_SECRETS_KEY: entry [12] has /);
  expect(read).not.toThrow(/S3cr3t|BwcHBw/);
});

test('without a key nothing is sealed, and the refusal names the variable', () => {
  for (const nothing of [undefined, '', ' ']) {
    const sealer = new Sealer(keysOf(nothing));
    expect(() => sealer.seal(PLACE, 'S3cr3t')).toThrow(/EVERDICT_SECRETS_KEY/);
    expect(sealer.derive('a')).toHaveLength(32);
  }
});

test('keys for other things follow from the first key and their label', () => {
  const sealer = sealerOf(`k:${base64(1)}`);
  expect(sealer.derive('a')).toEqual(sealerOf(`other:${base64(1)}`).derive('a'));
  expect(sealer.derive('a')).not.toEqual(sealer.derive('b'));
  expect(JSON.stringify(keysOf(`k:${base64(7)}`))).not.toContain('BwcH');
});
