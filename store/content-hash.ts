import { createHash } from 'node:crypto';
import { canonicalJson } from '../policy/canonical.js';

/** Hash of a value's content: the order of its keys does not count. */
export const contentHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');
