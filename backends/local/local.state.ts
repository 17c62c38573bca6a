import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasCode } from './local.errors.js';
import { isWrapperOf, type ProcessId } from './local.process.js';

const execute = promisify(execFile);

/** Files and directories that are removed at once. */
const SMALL_TREE = 200;

/** Where everything of one local job is kept: the worker that adopts it needs nothing else. */
export interface JobPaths {
  dir: string;
  payload: string;
  /** The wrapper's own directory, which it claims before it starts anything. */
  state: string;
  claim: string;
  pid: string;
  /** How the program of a job without a wrapper ended: its exit status, written by who started it. */
  status: string;
  boot: string;
  stdout: string;
  stderr: string;
  /** Where the directory goes to be removed, so that half of it is never taken for a job. */
  trash: string;
}

/** Absolute: the wrapper works elsewhere. */
export function jobPaths(stateDir: string, name: string): JobPaths {
  const dir = resolve(stateDir, 'jobs', name);
  const state = join(dir, 'state');
  return {
    dir,
    payload: join(dir, 'payload'),
    state,
    claim: join(state, 'claim'),
    pid: join(state, 'pid'),
    status: join(state, 'status'),
    boot: join(dir, 'boot'),
    stdout: join(dir, 'stdout'),
    stderr: join(dir, 'stderr'),
    trash: resolve(stateDir, 'trash', name),
  };
}

/**
 * Creates a job's directory whole, or finds it. Renaming onto a directory that is not empty fails, so of two workers
 * one creates it. Synchronous: a handful of small files, cheaper written at once than through the thread pool.
 */
export function createJobDir(
  paths: JobPaths,
  payload: Iterable<[file: string, bytes: Uint8Array]>,
  bootId: string,
): 'created' | 'exists' {
  if (existsSync(paths.dir)) return 'exists';
  const draft = `${paths.trash}.${randomBytes(6).toString('hex')}`;
  makeDraft(draft);
  mkdirSync(join(draft, 'payload'));
  // Some hold values of secrets.
  for (const [file, bytes] of payload) writeFileSync(join(draft, 'payload', file), bytes, { mode: 0o600 });
  for (const [file, text] of [
    ['stdout', ''],
    ['stderr', ''],
    ['boot', bootId],
  ] as const) {
    writeFileSync(join(draft, file), text);
  }
  try {
    renameSync(draft, paths.dir);
    return 'created';
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    void removeTree(draft).catch(() => undefined);
    return 'exists';
  }
}

/** Nobody else may enter it, so the files in it need no mode of their own. */
function makeDraft(draft: string): void {
  try {
    mkdirSync(draft, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    for (const parent of ['jobs', 'trash']) mkdirSync(join(dirname(dirname(draft)), parent), { recursive: true });
    mkdirSync(draft, { mode: 0o700 });
  }
}

/** The wrapper's process; absent until it has claimed its directory. */
export function readWrapper(paths: JobPaths, name: string): ProcessId | undefined {
  const [pid, startTime] = /^(\d+) (\d+)$/.exec(readText(paths.pid)?.trim() ?? '')?.slice(1) ?? [];
  const claimed = pid && startTime ? { pid: Number(pid), startTime } : undefined;
  return claimed && isWrapperOf(claimed, name) ? claimed : undefined;
}

/** Exit status of a program that ended, as a shell counts it. */
export function readExitStatus(paths: JobPaths): number | undefined {
  const status = /^(\d{1,3})\n$/.exec(readText(paths.status) ?? '')?.[1];
  return status === undefined ? undefined : Number(status);
}

/** Whether the machine was restarted since the job began. A job may delete the file, which is no evidence of that. */
export const isOfEarlierBoot = (paths: JobPaths, bootId: string): boolean =>
  (readText(paths.boot) ?? bootId) !== bootId;

/**
 * Takes the job's directory away. It is gone once it is moved: files that we may not delete, such as those a container
 * left as another user, keep no slot and wait in the trash.
 */
export async function removeJobDir(paths: JobPaths): Promise<void> {
  const grave = `${paths.trash}.${randomBytes(6).toString('hex')}`;
  if (!existsSync(paths.dir)) return;
  try {
    renameSync(paths.dir, grave);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && !existsSync(paths.dir)) return;
    throw error;
  }
  await removeTree(grave).catch(() => undefined);
}

/** Every job's directory, by the name of its allocation, and when it was made, epoch ms. */
export async function listJobDirs(stateDir: string): Promise<{ name: string; madeAt: number }[]> {
  const jobs = resolve(stateDir, 'jobs');
  const found: { name: string; madeAt: number }[] = [];
  for (const name of await readdir(jobs).catch(() => [])) {
    // Not its last change, which a job can make at will. One that is gone meanwhile is no job.
    const made = await stat(join(jobs, name)).catch(() => undefined);
    if (made) found.push({ name, madeAt: made.birthtimeMs });
  }
  return found;
}

/** Drafts of other workers live in the trash for a moment. */
const TRASH_KEPT_MS = 10 * 60_000;

/** Tries again to delete what earlier removals could not. */
export async function emptyTrash(stateDir: string, now: number): Promise<void> {
  const trash = resolve(stateDir, 'trash');
  for (const name of await readdir(trash).catch(() => [])) {
    const path = join(trash, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > TRASH_KEPT_MS) await removeTree(path).catch(() => undefined);
  }
}

/** Jobs leave directories that not even their owner may write, such as a module cache, and paths too long for a call. */
const REMOVE_STUBBORN = `
  exec 2>/dev/null
  find "$1" -type d -exec chmod u+rwx {} \\;
  exec rm -rf "$1"
`;

async function removeTree(path: string): Promise<void> {
  if (removeSmallTree(path)) return;
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'ENOTEMPTY', 'ENAMETOOLONG')) throw error;
    await execute('/bin/sh', ['-c', REMOVE_STUBBORN, 'sh', path]);
  }
}

/** What most jobs leave is gone sooner than the thread pool would take it up. False: something is left, or in the way. */
function removeSmallTree(root: string): boolean {
  let budget = SMALL_TREE;
  const removeBelow = (dir: string): boolean => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      budget -= 1;
      if (budget < 0) return false;
      const path = join(dir, entry.name);
      if (!entry.isDirectory()) unlinkSync(path);
      else if (!removeBelow(path)) return false;
    }
    rmdirSync(dir);
    return true;
  };
  try {
    return !existsSync(root) || removeBelow(root);
  } catch {
    return false;
  }
}

/** A file that its owner may not write is sealed. */
const SEALED_MODE = 0o400;
const WRITABLE = 0o200;

/**
 * From now on nothing that the job prints is its result. Takes no room on the disk, and whoever has the file open sees
 * it, wherever the directory goes.
 */
export function sealOutput({ stdout }: JobPaths): void {
  try {
    const fd = openPlain(stdout);
    try {
      fchmodSync(fd, SEALED_MODE);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // Nobody can follow what is not there, or no file; and one that is not ours to seal keeps no job from its end.
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS')) throw error;
  }
}

export const isSealed = (fd: number): boolean => (fstatSync(fd).mode & WRITABLE) === 0;

/** Of files that are forbidden, sockets, devices, and links. */
const NOT_PLAIN = ['EACCES', 'EPERM', 'ENXIO', 'ENODEV', 'ELOOP'];

/** Jobs may close a file, or put a pipe, which never ends, or a link in place of it. Such a thing reads as nothing. */
export function openPlain(path: string): number {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch (error) {
    if (!hasCode(error, ...NOT_PLAIN)) throw error;
  }
  throw Object.assign(new Error(`${path} is no plain file`), { code: 'ENOENT' });
}

function readPlain(path: string): string {
  const fd = openPlain(path);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function readText(path: string): string | undefined {
  try {
    return readPlain(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
