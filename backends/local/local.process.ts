import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './local.errors.js';

/** A process for ever: pids are used again, a pid with its start time is not. */
export interface ProcessId {
  pid: number;
  /** Clock ticks since the machine started. */
  startTime: string;
}

export interface ProcessEntry extends ProcessId {
  group: number;
  session: number;
  /** The allocation it works for, if it carries the marker. */
  attempt?: string;
}

/** Variable that every process of a job inherits; its value is the allocation's name. */
export const MARKER = 'EVERDICT_ATTEMPT';

const MARKER_BYTES = Buffer.from(`${MARKER}=`);
const buffer = Buffer.allocUnsafe(1 << 20);

/** Reads a file of /proc in one piece; absent if the process is gone or not ours to look at. */
function readProc(path: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return buffer.subarray(0, readSync(fd, buffer));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** A live process; a zombie is as good as gone. */
function readStat(pid: string | number): ProcessEntry | undefined {
  const text = readProc(`/proc/${pid}/stat`)?.toString('latin1');
  if (!text) return undefined;
  // The name in parentheses may hold spaces and parentheses; the fields after it do not.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 20);
  const [state, , group, session] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return { pid: Number(pid), startTime: fields[19] ?? '', group: Number(group), session: Number(session) };
}

export const isAlive = ({ pid, startTime }: ProcessId): boolean => readStat(pid)?.startTime === startTime;

function readMarker(pid: number): string | undefined {
  const environ = readProc(`/proc/${pid}/environ`);
  if (!environ) return undefined;
  for (let at = environ.indexOf(MARKER_BYTES); at >= 0; at = environ.indexOf(MARKER_BYTES, at + 1)) {
    if (at > 0 && environ[at - 1] !== 0) continue;
    const end = environ.indexOf(0, at);
    return environ.toString('latin1', at + MARKER_BYTES.length, end < 0 ? environ.length : end);
  }
  return undefined;
}

/** The job's own word for its wrapper is taken only for a process that bears the attempt's marker, or is no more. */
export const isWrapperOf = (claimed: ProcessId, name: string): boolean =>
  claimed.pid > 1 && (!isAlive(claimed) || readMarker(claimed.pid) === name);

/** A process this old has long replaced the image it was forked with, and gains no marker any more. */
const SETTLED_TICKS = 500;
/** Clock ticks of a second, the same on every Linux. */
const TICKS = 100;
/** For so long a pid that was looked at is not given to another process: there are at least 32,768. */
const TRUSTED_MS = 1_000;

/** A process that is old and without the marker: as good as not there. */
interface Stranger extends ProcessEntry {
  seenAt: number;
}

/** Who stops jobs one after the other gains little from looking sooner, and everybody else has the time. */
const SHORTEST_REST_MS = 30;

/**
 * What runs on this host. Stopping a job needs a look at every process, so looks are shared: one serves all who asked
 * before it began, and the next comes after three times as long as one takes, or a moment.
 */
export class ProcessTable {
  private readonly strangers = new Map<number, Stranger>();
  /** Processes that were seen with a marker keep it, whatever they turn into. */
  private marked = new Map<number, ProcessEntry>();
  private next: Promise<ProcessEntry[]> | undefined;
  private restUntil = 0;

  /** Every live process of the job: those with its marker, and the group and session of its wrapper. */
  async of(name: string, wrapper: ProcessId | undefined): Promise<ProcessEntry[]> {
    const all = await this.look();
    const leader = wrapper && all.find(({ pid }) => pid === wrapper.pid);
    // A pid is not given out again while a group of that number exists: another leader means that ours is gone.
    const isOurGroup = wrapper !== undefined && (!leader || leader.startTime === wrapper.startTime);
    const ours = all.filter(
      ({ attempt, group, session }) =>
        attempt === name || (isOurGroup && (group === wrapper.pid || session === wrapper.pid)),
    );
    return ours.filter(isAlive);
  }

  private look(): Promise<ProcessEntry[]> {
    this.next ??= this.lookNext();
    return this.next;
  }

  private async lookNext(): Promise<ProcessEntry[]> {
    await sleep(Math.max(0, this.restUntil - performance.now()));
    this.next = undefined;
    const begun = performance.now();
    const entries = this.read(begun);
    const ended = performance.now();
    this.restUntil = ended + Math.max(SHORTEST_REST_MS, 3 * (ended - begun));
    return entries;
  }

  private read(now: number): ProcessEntry[] {
    const age = uptimeTicks();
    const entries = listPids().flatMap((pid) => {
      const stranger = this.strangers.get(pid);
      if (stranger && now - stranger.seenAt < TRUSTED_MS) return [stranger];
      const entry = readStat(pid);
      if (!entry || pid === process.pid) return [];
      const isKnown = stranger?.startTime === entry.startTime;
      const marked = this.marked.get(pid);
      if (marked?.startTime === entry.startTime) entry.attempt = marked.attempt;
      else if (!isKnown) entry.attempt = readMarker(pid);
      const isOld = age - Number(entry.startTime) > SETTLED_TICKS;
      if (entry.attempt === undefined && isOld) this.strangers.set(pid, { ...entry, seenAt: now });
      return [entry];
    });
    this.marked = new Map(entries.filter(({ attempt }) => attempt !== undefined).map((entry) => [entry.pid, entry]));
    const live = new Set(entries.map(({ pid }) => pid));
    for (const pid of this.strangers.keys()) if (!live.has(pid)) this.strangers.delete(pid);
    return entries;
  }
}

/** Now, on the clock of start times. */
export const uptimeTicks = (): number => uptime() * TICKS;

export const sinceStartMs = ({ startTime }: ProcessId): number =>
  uptime() * 1_000 - (Number(startTime) / TICKS) * 1_000;

const listPids = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** Signals a process, or a whole group if the number is negative; one that is gone already is fine. */
export function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return;
    throw error;
  }
}
