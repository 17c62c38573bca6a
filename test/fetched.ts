import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../node_modules/.cache/everdict/', import.meta.url));
const FETCH_MS = 60_000;

export interface Fetch {
  /** Commands that put a package into the directory they run in, and unpack it. */
  steps: string[][];
  /** What is wanted of it. */
  file: RegExp;
}

/** A file of a package, kept in our cache; undefined where it is not to be had. */
export function fetched(name: string, { steps, file }: Fetch): string | undefined {
  const kept = join(CACHE, name);
  if (existsSync(kept)) return kept;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  try {
    for (const [command = '', ...args] of steps) {
      if (spawnSync(command, args, { cwd: draft, timeout: FETCH_MS, stdio: 'ignore' }).status !== 0) return undefined;
    }
    const found = readdirSync(draft, { recursive: true, encoding: 'utf8' }).find((path) => file.test(path));
    if (found === undefined) return undefined;
    chmodSync(join(draft, found), 0o755);
    renameSync(join(draft, found), kept);
    return kept;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
