import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { PlatformError } from '../../contracts/errors.js';
import type { SpecFolder } from '../../contracts/registration.js';

const FOLDERS = ['runtimes', 'harnesses', 'datasets'] as const satisfies readonly SpecFolder[];
/** Cases one a line, and what the file's name says of them. */
const LINES_FILE = /^([^@]+)@(.+)\.jsonl$/;

/** A file below the shared directory. */
export interface SharedFile {
  folder: SpecFolder;
  /** As the operator knows it: `runtimes/farm.json`. */
  name: string;
  path: string;
  /** Of a file of cases, which does not say this inside. */
  lines?: { id: string; version: string };
}

/** The files of a shared directory in the order of their names, and what there is that it cannot hold. */
export async function sharedFiles(dir: string): Promise<{ files: SharedFile[]; others: string[] }> {
  // Fails where the directory itself does not exist.
  const present = new Set(await readdir(dir));
  const files: SharedFile[] = [];
  const others: string[] = [];
  for (const folder of FOLDERS.filter((each) => present.has(each))) {
    for (const file of (await readdir(path.join(dir, folder))).sort()) {
      if (file.startsWith('.')) continue;
      const found = { folder, name: `${folder}/${file}`, path: path.join(dir, folder, file) };
      const [, id, version] = folder === 'datasets' ? (LINES_FILE.exec(file) ?? []) : [];
      if (id !== undefined && version !== undefined) files.push({ ...found, lines: { id, version } });
      else if (file.endsWith('.json')) files.push(found);
      else others.push(found.name);
    }
  }
  return { files, others };
}

export async function readJson(file: SharedFile): Promise<unknown> {
  const text = await readFile(file.path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PlatformError('BAD_REQUEST', `it is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
