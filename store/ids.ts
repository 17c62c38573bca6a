import { randomBytes } from 'node:crypto';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 10;
const CHARACTERS = 26;

/** A time-ordered id: 48 bits of epoch ms and 80 random bits, as 26 characters of Crockford's base32. */
export function newId(prefix: 'sc' | 'run', now = Date.now()): string {
  let bits = BigInt(now);
  for (const byte of randomBytes(RANDOM_BYTES)) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < CHARACTERS; i++, bits >>= 5n) text = CROCKFORD.charAt(Number(bits & 31n)) + text;
  return `${prefix}_${text}`;
}
