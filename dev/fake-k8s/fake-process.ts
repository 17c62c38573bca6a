import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Command } from './fake-command.js';
import type { ContainerLog } from './fake-log.js';

/** Of pipes that something keeps open after the end of the process. */
const DRAIN_MS = 1_000;
const TERM_BIT = 1n << BigInt(constants.signals.SIGTERM - 1);

/** Starts it in a group of its own. Throws where the machine cannot. */
export async function launch({ argv: [program, ...args], env, cwd }: Command): Promise<ChildProcess> {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child, 'spawn');
  return child;
}

/** Its output goes to the log, and its exit code is told; what it left running is killed. */
export async function ended(child: ChildProcess, log: ContainerLog): Promise<number> {
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (bytes: Buffer) => log.append(stream, bytes));
  }
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  killGroup(child);
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, DRAIN_MS);
  await closed;
  clearTimeout(timer);
  log.end();
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** As the first process of a container is asked to end: one that does not handle TERM is not touched by it. */
export function terminate(child: ChildProcess): void {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(textOf(`/proc/${child.pid}/status`))?.[1];
  if (caught !== undefined && (BigInt(`0x${caught}`) & TERM_BIT) !== 0n) child.kill('SIGTERM');
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid);
}

/** The largest of what it has started, as the kernel chooses where memory runs out. Whether there was one. */
export function killDescendant({ pid }: ChildProcess): boolean {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    // The name of a process, between brackets, may hold anything.
    const parent = /^.*\) \S (\d+) /s.exec(/^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : '')?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (id: number): boolean => {
    const parent = parents.get(id);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  const sizeOf = (id: number): number => Number(textOf(`/proc/${id}/statm`).split(' ')[1] ?? 0);
  const [largest] = [...parents.keys()].filter(isBelow).sort((a, b) => sizeOf(b) - sizeOf(a));
  if (largest !== undefined) kill(largest);
  return largest !== undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Nothing where the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
