import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupOf, isAlive, signalProcess } from './process-id.js';

/** Looks at the process table before a job that will not end is given up. */
const LOOKS = 100;
const MARKER = 'EVERDICT_ATTEMPT=';

/**
 * Ends the jobs that a stopped stack left on this machine, daemons of theirs included: every process that carries the
 * marker of a job in the state directory, or is in the group of its wrapper. Returns how many there were.
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
  return ended.size;
}

/** Names of the jobs, with the group of the wrapper where it still runs. */
function readJobs(dir: string): Map<string, number | undefined> {
  const jobs = new Map<string, number | undefined>();
  for (const name of readNames(dir)) jobs.set(name, wrapperGroup(path.join(dir, name, 'state', 'pid')));
  return jobs;
}

function readNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function wrapperGroup(file: string): number | undefined {
  const [pid = '', startTime = ''] = (readOrNothing(file) ?? '').trim().split(' ');
  return isAlive({ pid: Number(pid), startTime }) ? Number(pid) : undefined;
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

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
