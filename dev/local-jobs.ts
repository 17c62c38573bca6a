import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupOf, isAlive, type ProcessId, signalProcess } from './process-id.js';

/** Looks at the process table before a job that will not end is given up. */
const LOOKS = 100;
const MARKER = 'EVERDICT_ATTEMPT=';
/** The line that ends a result record, at the end of what the wrapper printed. */
const LAST_LINE = /\n__EVERDICT_RESULT__ [0-9a-f]+ end \d+\n$/;
const RECORD_TAIL = 200;

/**
 * Ends the jobs that a stopped stack left on this machine, daemons of theirs included: every process that carries the
 * marker of a job in the state directory, or is in the group of its wrapper. Returns how many jobs were cut short.
 * A job that was cut short is then absent for the next worker, which tries its case again: left in place, it would
 * look as if it had ended by itself, and its agent would be blamed.
 */
export async function endLocalJobs(stateDir: string): Promise<number> {
  const jobs = readJobs(path.join(stateDir, 'jobs'));
  const ended = new Set<number>();
  for (let look = 0; jobs.size > 0 && look < LOOKS; look += 1) {
    const left = processesOf(jobs);
    if (left.length === 0) break;
    for (const pid of left) {
      signalProcess(pid, 'SIGKILL');
      ended.add(pid);
    }
    await sleep(20);
  }
  const cut = [...jobs.keys()].filter((name) => {
    const dir = path.join(stateDir, 'jobs', name);
    return ended.has(wrapperIn(dir).pid) && !hasRecord(dir);
  });
  for (const name of cut) remove(stateDir, name);
  return cut.length;
}

/** Whether its result is complete: the wrapper stays for a while after that. */
function hasRecord(jobDir: string): boolean {
  return LAST_LINE.test(readOrNothing(path.join(jobDir, 'stdout'), RECORD_TAIL) ?? '');
}

/** At once, however long the deletion takes or whether it succeeds. */
function remove(stateDir: string, name: string): void {
  const trash = path.join(stateDir, 'trash', `${name}.${randomBytes(6).toString('hex')}`);
  mkdirSync(path.dirname(trash), { recursive: true });
  renameSync(path.join(stateDir, 'jobs', name), trash);
  rmSync(trash, { recursive: true, force: true, maxRetries: 1 });
}

/** Names of the jobs, with the group of the wrapper where it still runs. */
function readJobs(dir: string): Map<string, number | undefined> {
  const jobs = new Map<string, number | undefined>();
  for (const name of readNames(dir)) jobs.set(name, wrapperGroup(path.join(dir, name), name));
  return jobs;
}

function readNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** The job's own word for its wrapper is taken only for a process that carries its marker. */
function wrapperGroup(jobDir: string, name: string): number | undefined {
  const wrapper = wrapperIn(jobDir);
  return isAlive(wrapper) && markerOf(wrapper.pid) === name ? wrapper.pid : undefined;
}

function wrapperIn(jobDir: string): ProcessId {
  const [pid, startTime = ''] = (readOrNothing(path.join(jobDir, 'state', 'pid')) ?? '').trim().split(' ');
  return { pid: Number(pid), startTime };
}

function processesOf(jobs: ReadonlyMap<string, number | undefined>): number[] {
  const groups = new Set([...jobs.values()].filter((group) => group !== undefined));
  const pids = readNames('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    if (pid === process.pid) return false;
    const group = groupOf(pid);
    if (group === 0) return false;
    return groups.has(group) || jobs.has(markerOf(pid) ?? '');
  });
}

function markerOf(pid: number): string | undefined {
  const variables = readOrNothing(`/proc/${pid}/environ`)?.split('\0');
  return variables?.find((variable) => variable.startsWith(MARKER))?.slice(MARKER.length);
}

/** The whole file, or so many bytes of its end. A job may have put a pipe, which never ends, in place of a file. */
function readOrNothing(file: string, tail?: number): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile()) return undefined;
    if (tail === undefined) return readFileSync(fd, 'latin1');
    const bytes = Buffer.alloc(Math.min(tail, stats.size));
    readSync(fd, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.toString('latin1');
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
