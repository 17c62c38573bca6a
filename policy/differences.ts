import { fieldPath } from '../contracts/field-path.js';
import { canonicalJson } from './canonical.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Paths at which two JSON values differ, as deep as both have something there. */
export function differences(a: unknown, b: unknown, path: readonly (string | number)[] = []): string[] {
  if (canonicalJson(a) === canonicalJson(b)) return [];
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return [fieldPath(path)];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.flatMap((key) => differences(a[key], b[key], [...path, Array.isArray(a) ? Number(key) : key]));
}
