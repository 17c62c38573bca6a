import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDevEnv } from '../config/dev-env.js';

/** Directory of the package, from its source and from its built form. */
export const PACKAGE_DIR = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url));

/** Where downloaded programs are kept: the user's cache, else below node_modules. Made if absent. */
export async function cacheDir(): Promise<string> {
  const { XDG_CACHE_HOME } = readDevEnv();
  const wanted = [
    path.join(XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'everdict'),
    path.join(PACKAGE_DIR, 'node_modules/.cache/everdict'),
  ];
  for (const dir of wanted) {
    try {
      await fs.mkdir(dir, { recursive: true });
      await fs.access(dir, fs.constants.W_OK);
      return dir;
    } catch {
      // The next one may be writable.
    }
  }
  throw new Error(
    `no directory to keep downloads in: tried ${wanted.join(' and ')}: make one writable, or name one in XDG_CACHE_HOME`,
  );
}
