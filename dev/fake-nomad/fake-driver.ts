import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { readDevEnv } from '../../config/dev-env.js';
import type { TaskDocument } from './fake-documents.js';
import { expandConfig, expandKnown, type TaskDirectories, Unfit, type Variables } from './fake-interpolation.js';
import type { LogFiles } from './fake-task-logs.js';

export interface Command {
  argv: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  /** Of a container. */
  image?: string;
}

/** Of pipes that something keeps open after the end of the process. */
const DRAIN_MS = 1_000;
/** Whatever the driver: programs are those of this machine. */
const { PATH } = readDevEnv();

export const isContainer = ({ Driver }: TaskDocument): boolean => Driver === 'docker' || Driver === 'podman';

/** What its driver would run; in a container relative paths lead nowhere. */
export function commandOf(task: TaskDocument, known: Variables, directories: TaskDirectories): Command {
  const config = expandConfig(task.Config, known) as Record<string, unknown>;
  const { image, command, args = [], entrypoint = [] } = config;
  const argv = [...texts(entrypoint), ...(command === undefined ? [] : texts([command])), ...texts(args)];
  const [program, ...rest] = argv;
  if (isContainer(task) ? typeof image !== 'string' : command === undefined) {
    throw new Unfit(`failed to parse config: The argument "${isContainer(task) ? 'image' : 'command'}" is required`);
  }
  if (program === undefined) throw new Unfit('the fake runs a container only where it is told a command');
  const own = Object.entries(task.Env).map(([name, value]) => [name, expandKnown(value, known)] as const);
  const ofNomad = [...known].filter(([name]) => name.startsWith('NOMAD_'));
  return {
    argv: [program, ...rest],
    env: { PATH, ...Object.fromEntries(ofNomad), ...Object.fromEntries(own) },
    cwd: isContainer(task) ? '/' : directories.task,
    ...(typeof image === 'string' && { image }),
  };
}

function texts(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (items.every((item) => typeof item === 'string')) return items;
  throw new Unfit('failed to parse config: Incorrect attribute value type: a list of strings is required');
}

/** Starts it in a group of its own. Throws where the machine cannot. */
export async function launch({ argv: [program, ...args], env, cwd }: Command): Promise<ChildProcess> {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child, 'spawn');
  return child;
}

/** Its output, and how it ended; what it left running is killed. */
export async function ended(child: ChildProcess, logs: LogFiles): Promise<{ code: number; signal: number }> {
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (bytes: Buffer) => logs.append(stream, bytes));
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
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
