import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { jsonPlace } from '../contracts/json-place.js';
import { type CliError, usageError } from './failures.js';
import { codeOf, messageOf } from './foreign-errors.js';

export const DEFAULT_VERSION = '1.0.0';

/** Why a file of the user is of no use, naming it. */
export function unreadable(file: string, error: unknown): CliError {
  const code = codeOf(error);
  if (code === 'ENOENT') return usageError(`there is no file ${file} (looked in ${process.cwd()})`);
  if (code === 'EISDIR') return usageError(`${file} is a directory; give a file`);
  return usageError(`${file} cannot be read: ${messageOf(error)}`);
}

/** A file of the user, or stdin as `-`; or a message that names it. */
export async function readUserFile(file: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

export interface Body {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Says where the fault is and quotes nothing: it may be another file than was meant, and what is printed be public. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${what} is not valid JSON (at ${jsonPlace(text)})`);
  }
}

/** Sent as it is, so that the platform sees every key and reports its place. */
export async function jsonFile(file: string): Promise<Body> {
  const bytes = await readUserFile(file);
  parseJson(bytes.toString('utf8'), file);
  return { type: 'application/json', bytes };
}

export const isJsonLines = (file: string): boolean => /\.(jsonl|ndjson)$/i.test(file);

/** An id made of a file's name: `My Tasks.jsonl` gives `my-tasks`. */
export function idFromFile(file: string): string {
  const stem = path.basename(file).replace(/\.[^.]*$/, '');
  const id = stem
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 63);
  if (id) return id;
  throw usageError(`no id can be made of the file name ${path.basename(file)}`, 'give one with --id');
}

/** `id` or `id@version` as the path of one registered version. */
export function refPath(plural: string, ref: string): string {
  const [id = '', version = 'latest', ...rest] = ref.split('@');
  if (!id || !version || rest.length > 0) throw usageError(`${ref} is not an id or id@version`);
  return `/${plural}/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`;
}
