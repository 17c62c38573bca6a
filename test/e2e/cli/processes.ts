import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const CLI = `${ROOT}cli/everdict.js`;

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

const started = new Set<Program>();

/** Ends what a failed test left, politely, so that it stops what it started itself. */
export async function endPrograms(): Promise<void> {
  await Promise.all(
    [...started].map(async ({ child, ended }) => {
      child.kill('SIGTERM');
      await ended;
    }),
  );
  started.clear();
}

/** A program at work, what it has printed so far, and its end. */
export class Program {
  out = '';
  err = '';
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  private readonly listeners = new Set<() => void>();

  constructor(
    command: string,
    words: readonly string[],
    { cwd = ROOT, env = {} }: { cwd?: string; env?: object } = {},
  ) {
    const child = spawn(command, words, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    started.add(this);
    child.stdout.on('data', (bytes) => this.take('out', bytes));
    child.stderr.on('data', (bytes) => this.take('err', bytes));
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        for (const listener of this.listeners) listener();
        resolve({ code, out: this.out, err: this.err });
      });
    });
  }

  private take(stream: 'out' | 'err', bytes: Buffer): void {
    this[stream] += bytes;
    for (const listener of this.listeners) listener();
  }

  /** Resolves once it has printed something that matches; fails if it ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this.out) ?? pattern.exec(this.err);
        if (!found && this.child.exitCode === null && this.child.signalCode === null) return;
        this.listeners.delete(look);
        if (found) resolve(found);
        else reject(new Error(`ended without ${pattern}:\n${this.out}\n${this.err}`));
      };
      this.listeners.add(look);
      look();
    });
  }
}

export const node = (words: readonly string[], options?: { cwd?: string; env?: object }): Program =>
  new Program(process.execPath, words, options);

/** Live processes that have to do with a directory: by their arguments, environment or working directory. */
export function processesOf(dir: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      const isZombie = /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      if (!isZombie && (command + environment).includes(dir)) found.push(`${pid} ${command.replaceAll('\0', ' ')}`);
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}
