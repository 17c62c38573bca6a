import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { kill } from '../job-process.js';

const TERM_BIT = 1n << BigInt(constants.signals.SIGTERM - 1);

/** As the first process of a container is asked to end: one that does not handle TERM is not touched by it. */
export function terminate(child: ChildProcess): void {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(textOf(`/proc/${child.pid}/status`))?.[1];
  if (caught !== undefined && (BigInt(`0x${caught}`) & TERM_BIT) !== 0n) child.kill('SIGTERM');
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

/** Nothing where the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
