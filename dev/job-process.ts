import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** Of pipes that something keeps open after the end of the process. */
const DRAIN_MS = 1_000;

/** What is run, and how. */
interface Program {
  argv: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
}

/** Keeps what is printed. */
interface Output {
  append(stream: 'stdout' | 'stderr', bytes: Buffer): void;
}

/** Starts it in a group of its own. Throws where the machine cannot. */
export async function launch({ argv: [program, ...args], env, cwd }: Program): Promise<ChildProcess> {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child, 'spawn');
  return child;
}

/** Its output, and how it ended; what it left running is killed. */
export async function ended(child: ChildProcess, output: Output): Promise<{ code: number; signal: number }> {
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (bytes: Buffer) => output.append(stream, bytes));
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
  const number = signal === null ? 0 : constants.signals[signal];
  return { code: code ?? 128 + number, signal: number };
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid);
}

/** A process, or a group by its negative; one that has ended is fine. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
