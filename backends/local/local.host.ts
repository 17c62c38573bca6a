import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, release, type } from 'node:os';
import { join } from 'node:path';

/** The machine that local jobs run on. */
export interface LocalHost {
  /** Random, kept in the state directory: two machines never share it, a restart keeps it. */
  id: string;
  /** New after every restart of the machine, when no process of before is left. */
  bootId: string;
  /** For people. */
  name: string;
  platform: string;
}

export async function readLocalHost(stateDir: string): Promise<LocalHost> {
  await mkdir(stateDir, { recursive: true });
  return {
    id: await readHostId(stateDir),
    bootId: (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim(),
    name: hostname(),
    platform: `${type()} ${release()}`,
  };
}

/** Two workers may start at once on a new state directory: a link is made whole and only once. */
async function readHostId(stateDir: string): Promise<string> {
  const path = join(stateDir, 'host-id');
  const known = await readFile(path, 'utf8').catch(absent);
  if (known !== undefined) return known.trim();
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `host-${randomBytes(12).toString('hex')}\n`, { flag: 'wx' });
  try {
    await link(draft, path).catch(alreadyThere);
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function alreadyThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
