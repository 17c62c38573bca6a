import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './local.errors.js';
import type { ProcessId } from './local.process.js';

/** Where everything of one local job is kept: the worker that adopts it needs nothing else. */
export interface JobPaths {
  dir: string;
  payload: string;
  /** The wrapper's own directory, which it claims before it starts anything. */
  state: string;
  claim: string;
  pid: string;
  boot: string;
  stdout: string;
  stderr: string;
  /** Where the directory goes to be removed, so that half of it is never taken for a job. */
  trash: string;
}

export function jobPaths(stateDir: string, name: string): JobPaths {
  const dir = join(stateDir, 'jobs', name);
  const state = join(dir, 'state');
  return {
    dir,
    payload: join(dir, 'payload'),
    state,
    claim: join(state, 'claim'),
    pid: join(state, 'pid'),
    boot: join(dir, 'boot'),
    stdout: join(dir, 'stdout'),
    stderr: join(dir, 'stderr'),
    trash: join(stateDir, 'trash', name),
  };
}

/**
 * Creates a job's directory whole, or finds it. Renaming onto a directory that is not empty fails, so of two workers
 * one creates it. Synchronous: a handful of small files, cheaper written at once than through the thread pool.
 */
export function createJobDir(
  paths: JobPaths,
  payload: ReadonlyMap<string, Uint8Array>,
  bootId: string,
): 'created' | 'exists' {
  if (existsSync(paths.dir)) return 'exists';
  const draft = `${paths.trash}.${randomBytes(6).toString('hex')}`;
  mkdirSync(join(paths.trash, '..'), { recursive: true });
  mkdirSync(join(paths.dir, '..'), { recursive: true });
  mkdirSync(join(draft, 'payload'), { recursive: true, mode: 0o700 });
  for (const [file, bytes] of payload) writeFileSync(join(draft, 'payload', file), bytes, { mode: 0o600 });
  for (const stream of ['stdout', 'stderr']) writeFileSync(join(draft, stream), '', { mode: 0o600 });
  writeFileSync(join(draft, 'boot'), bootId);
  try {
    renameSync(draft, paths.dir);
    return 'created';
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    void removeTree(draft).catch(() => undefined);
    return 'exists';
  }
}

/** The wrapper's process; absent until it has claimed its directory. */
export function readWrapper(paths: JobPaths): ProcessId | undefined {
  const [pid, startTime] = readText(paths.pid)?.trim().split(' ') ?? [];
  return pid && startTime ? { pid: Number(pid), startTime } : undefined;
}

/** Whether the job belongs to this start of the machine. */
export const isOfBoot = (paths: JobPaths, bootId: string): boolean => readText(paths.boot) === bootId;

/** Removes the job's directory, and what an earlier removal left. */
export async function removeJobDir(paths: JobPaths): Promise<void> {
  await removeTree(paths.trash);
  try {
    renameSync(paths.dir, paths.trash);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  await removeTree(paths.trash);
}

async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'ENOTEMPTY')) throw error;
    await openUp(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Jobs leave directories that even their owner may not write, such as a module cache. */
async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(dir, entry.name));
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
