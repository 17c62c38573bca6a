import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks of a second, the same on every Linux. */
const TICKS = 100;
const MS_PER_TICK = 1_000 / TICKS;

interface Process {
  pid: number;
  parent: number;
  /** Of its own. */
  cpuMs: number;
  /** Of its children that have ended and were waited for, theirs included. */
  endedCpuMs: number;
}

function readProcess(pid: number): Process | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      pid,
      parent: fields[1] ?? 0,
      cpuMs: (user + system) * MS_PER_TICK,
      endedCpuMs: (endedUser + endedSystem) * MS_PER_TICK,
    };
  } catch {
    return undefined;
  }
}

function childrenOf(parent: number): Process[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => readProcess(pid) ?? []).filter((process) => process.parent === parent);
}

/** CPU milliseconds since the start of each part. */
export type CpuMs = Record<'api' | 'worker' | 'temporal' | 'postgres' | 'bareWorker' | 'jobs', number>;

/**
 * What each part has used. Every job is a child of the small process by which the worker starts them, so the time of
 * that one's ended children is that of all jobs: the wrappers and whatever they waited for.
 */
export function cpuOf(pids: Record<keyof Omit<CpuMs, 'jobs'>, number>): CpuMs {
  const own = (pid: number): number => readProcess(pid)?.cpuMs ?? 0;
  const starters = childrenOf(pids.worker);
  const backends = childrenOf(pids.postgres);
  const total = (processes: readonly Process[], key: 'cpuMs' | 'endedCpuMs'): number =>
    processes.reduce((ms, process) => ms + process[key], 0);
  return {
    api: own(pids.api),
    worker: own(pids.worker) + total(starters, 'cpuMs'),
    temporal: own(pids.temporal),
    postgres: own(pids.postgres) + (readProcess(pids.postgres)?.endedCpuMs ?? 0) + total(backends, 'cpuMs'),
    bareWorker: own(pids.bareWorker),
    jobs: total(starters, 'endedCpuMs'),
  };
}

const statusKb = (pid: number, key: string): number => {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .find((text) => text.startsWith(`${key}:`));
    return Number(/\d+/.exec(line ?? '')?.[0] ?? 0);
  } catch {
    return 0;
  }
};

/** The most that a process had resident since it started, in MB. */
export const peakMb = (pid: number): number => Math.round(statusKb(pid, 'VmHWM') / 1_024);

/** What Postgres takes now, in MB: the memory of each process, and once what they share. */
export function postgresMb(pid: number): number {
  const pids = [pid, ...childrenOf(pid).map((child) => child.pid)];
  const own = pids.reduce((kb, each) => kb + statusKb(each, 'RssAnon'), 0);
  const shared = Math.max(...pids.map((each) => statusKb(each, 'RssShmem') + statusKb(each, 'RssFile')));
  return Math.round((own + shared) / 1_024);
}

/** Its peak counts from now on. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
