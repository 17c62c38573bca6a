import { createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** A key that seals secrets. What it is made of shows in no log: a key object prints as its kind. */
interface SealingKey {
  id: string;
  key: KeyObject;
}

const KEY_BYTES = 32;
const FORM = `keyId:<base64 of ${KEY_BYTES} bytes>, more of them after commas`;
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** What is wrong is told by the place of the entry, as any part of it may be the key. */
function readKey(entry: string, place: number): SealingKey | string {
  const colon = entry.indexOf(':');
  if (colon < 0) return `entry ${place} has no colon between key id and key; the form is ${FORM}`;
  const [id, encoded] = [entry.slice(0, colon).trim(), entry.slice(colon + 1).trim()];
  if (!KEY_ID.test(id)) return `entry ${place} has a key id that is not 1 to 32 of A-Z a-z 0-9 _ . -`;
  if (!BASE64.test(encoded)) return `entry ${place} has a key that is not base64; the form is ${FORM}`;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES) return `entry ${place} has a key of ${bytes.length} bytes, and it takes ${KEY_BYTES}`;
  return { id, key: createSecretKey(bytes) };
}

function readKeys(text: string): SealingKey[] | string {
  const keys = text.split(',').map((entry, index) => readKey(entry, index + 1));
  const fault = keys.find((key) => typeof key === 'string');
  if (fault !== undefined) return fault;
  const read = keys.filter((key) => typeof key !== 'string');
  const twice = read.findIndex(({ id }, index) => read.findIndex((other) => other.id === id) < index);
  return twice < 0 ? read : `entry ${twice + 1} has the key id of an earlier one: every key needs an id of its own`;
}

/** The first key seals, all of them open. Set to nothing, as by a compose file, it is not set. */
export const SecretsKey = z
  .string()
  .optional()
  .transform((text, context): SealingKey[] => {
    if (!text?.trim()) return [];
    const keys = readKeys(text);
    if (typeof keys !== 'string') return keys;
    context.addIssue(keys);
    return z.NEVER;
  });
