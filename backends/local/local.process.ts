import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
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

/** Reads a small file of /proc; absent if the process is gone or not ours to look at. */
function readProc(path: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = readSync(fd, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
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

/** A process this old has long replaced the image it was forked with, and gains no marker any more. */
const SETTLED_TICKS = 6_000;

/**
 * What runs on this host. Stopping a job needs a look at every process, so looks are shared: one serves all who asked
 * before it began, and the next comes after three times as long as one takes.
 */
export class ProcessTable {
  /** Old processes without the marker, by pid, with their start time. */
  private readonly unmarked = new Map<number, string>();
  private next: Promise<ProcessEntry[]> | undefined;
  private restUntil = 0;

  /** Every live process of the job: those with its marker, and the group and session of its wrapper. */
  async of(name: string, wrapper: ProcessId | undefined): Promise<ProcessEntry[]> {
    const all = await this.look();
    const leader = wrapper && all.find(({ pid }) => pid === wrapper.pid);
    // A pid is not given out again while a group of that number exists: another leader means that ours is gone.
    const isOurGroup = wrapper !== undefined && (!leader || leader.startTime === wrapper.startTime);
    return all.filter(
      ({ attempt, group, session }) =>
        attempt === name || (isOurGroup && (group === wrapper.pid || session === wrapper.pid)),
    );
  }

  private look(): Promise<ProcessEntry[]> {
    this.next ??= this.lookNext();
    return this.next;
  }

  private async lookNext(): Promise<ProcessEntry[]> {
    await sleep(Math.max(0, this.restUntil - performance.now()));
    this.next = undefined;
    const begun = performance.now();
    const entries = this.read();
    const ended = performance.now();
    this.restUntil = ended + 3 * (ended - begun);
    return entries;
  }

  private read(): ProcessEntry[] {
    const entries: ProcessEntry[] = [];
    const now = Number(readStat('self')?.startTime ?? 0) + process.uptime() * 100;
    const seen = new Set<number>();
    for (const name of readdirSync('/proc')) {
      if (name < '0' || name > ':') continue;
      const entry = readStat(name);
      if (!entry || entry.pid === process.pid) continue;
      seen.add(entry.pid);
      if (this.unmarked.get(entry.pid) !== entry.startTime) {
        entry.attempt = readMarker(entry.pid);
        if (entry.attempt === undefined && now - Number(entry.startTime) > SETTLED_TICKS) {
          this.unmarked.set(entry.pid, entry.startTime);
        }
      }
      entries.push(entry);
    }
    for (const pid of this.unmarked.keys()) if (!seen.has(pid)) this.unmarked.delete(pid);
    return entries;
  }
}

/** Signals a process, or a whole group if the number is negative; one that is gone already is fine. */
export function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return;
    throw error;
  }
}
