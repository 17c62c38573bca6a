import { randomBytes } from 'node:crypto';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 10;
const CHARACTERS = 26;
const SHORT = 12;

type Prefix = 'sc' | 'run' | 'aud' | 'gate';

/** A time-ordered id: 48 bits of epoch ms and 80 random bits, as 26 characters of Crockford's base32. */
export const newId = (prefix: Prefix, now = Date.now()): string => idOf(prefix, now, randomBytes(RANDOM_BYTES));

/** The lowest id that could be made at that time. */
export const idAt = (prefix: Prefix, ms: number): string => idOf(prefix, Math.max(0, ms), Buffer.alloc(RANDOM_BYTES));

function idOf(prefix: Prefix, ms: number, random: Buffer): string {
  let bits = BigInt(ms);
  for (const byte of random) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < CHARACTERS; i++, bits >>= 5n) text = CROCKFORD.charAt(Number(bits & 31n)) + text;
  return `${prefix}_${text}`;
}

/** An id that people may type: 60 random bits. */
export const shortId = (): string => Array.from(randomBytes(SHORT), (byte) => CROCKFORD.charAt(byte & 31)).join('');
