import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** A process for ever: pids are used again, a pid with its start time is not. */
export const ProcessId = z.object({ pid: z.int(), startTime: z.string() });
export type ProcessId = z.infer<typeof ProcessId>;

/** Fields of /proc/<pid>/stat after the name; absent for a process that is gone or a zombie. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields;
  } catch {
    return undefined;
  }
}

/** Group of a live process. */
export const groupOf = (pid: number): number => Number(statFields(pid)?.[2] ?? 0);

export const identify = (pid: number): ProcessId => ({ pid, startTime: statFields(pid)?.[19] ?? '' });

export const isAlive = ({ pid, startTime }: ProcessId): boolean =>
  startTime !== '' && statFields(pid)?.[19] === startTime;

/** Errors of Node are not instances of our `Error` in every realm. */
export const hasCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === code;

/** Signals a process; one that is gone already is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return;
    throw error;
  }
}

/** Asks a process to end, and after `graceMs` makes it. Returns once it is gone. */
export async function endProcess(target: ProcessId, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!isAlive(target)) return;
  signalProcess(target.pid, signal);
  if (await isGoneWithin(target, graceMs)) return;
  signalProcess(target.pid, 'SIGKILL');
  await isGoneWithin(target, 5_000);
}

async function isGoneWithin(target: ProcessId, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (isAlive(target)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}
