import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { DataPaths } from './data-dir.js';

/** The key that this platform's secrets are sealed with, made by the first start and kept beside the data. */
export function keptSecretsKey({ secretsKey }: DataPaths): string {
  try {
    return readFileSync(secretsKey, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const key = `dev-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
  writeFileSync(secretsKey, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}
