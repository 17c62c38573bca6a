import { type ChildProcess, spawn } from 'node:child_process';

/** A wrapper to be started: as the leader of a group of its own, its output appended to files. */
export interface StartOrder {
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stdout: string;
  stderr: string;
  /** For its stdin, which is empty otherwise. */
  input?: string;
}

/** A wrapper that this worker started: it may not have claimed its directory yet. */
export interface StartedWrapper {
  pid: number;
  /** How it ended, for people; absent while it runs. */
  end?: string;
}

interface StartRequest extends StartOrder {
  id: number;
}

type StarterReply =
  | { id: number; pid: number }
  | { id: number; error: { code?: string; message: string } }
  | { id: number; end: string };

/**
 * The starter's whole program. It runs from its source text, so it may use nothing from around it. It ends when the
 * worker does; what it started goes on.
 */
function starterProgram(): void {
  const { spawn: start } = require('node:child_process') as typeof import('node:child_process');
  const { openSync, closeSync } = require('node:fs') as typeof import('node:fs');
  const tell = (reply: StarterReply): void => void process.send?.(reply, undefined, undefined, () => undefined);
  process.title = 'everdict-starter';
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ id, args, cwd, env, stdout, stderr, input }: StartRequest) => {
    const files: number[] = [];
    const refuse = ({ code, message }: NodeJS.ErrnoException): void => tell({ id, error: { code, message } });
    try {
      for (const path of [stdout, stderr]) files.push(openSync(path, 'a'));
      const child = start('/bin/sh', args, {
        cwd,
        env,
        detached: true,
        stdio: [input === undefined ? 'ignore' : 'pipe', ...files],
      });
      child.stdin?.on('error', () => undefined).end(input);
      child.once('spawn', () => tell({ id, pid: child.pid ?? 0 }));
      child.once('error', refuse);
      child.once('exit', (status, signal) =>
        tell({ id, end: signal ? `was ended by ${signal}` : `ended with status ${status}` }),
      );
    } catch (error) {
      refuse(error as NodeJS.ErrnoException);
    } finally {
      for (const file of files) closeSync(file);
    }
  });
}

interface Waiting {
  resolve: (started: StartedWrapper) => void;
  reject: (error: Error) => void;
}

/**
 * Starts wrappers from a small process. A fork copies the page tables of whoever forks: from a worker of some hundred
 * MB that takes tens of milliseconds, in which the worker does nothing else.
 */
export class WrapperStarter {
  private process: ChildProcess | undefined;
  private lastId = 0;
  private readonly waiting = new Map<number, Waiting>();
  private readonly running = new Map<number, StartedWrapper>();

  async start(order: StartOrder): Promise<StartedWrapper> {
    const asked = this.current();
    try {
      return await this.ask(asked, order);
    } catch (error) {
      if (this.process === asked) throw error;
      // It died. Whatever it has done of the order, asking another is safe.
      return this.ask(this.current(), order);
    }
  }

  private current(): ChildProcess {
    this.process ??= this.launch();
    return this.process;
  }

  private ask(starter: ChildProcess, order: StartOrder): Promise<StartedWrapper> {
    this.lastId += 1;
    const id = this.lastId;
    starter.channel?.ref();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      starter.send({ id, ...order } satisfies StartRequest, (error) => error && this.lose(starter, error));
    });
  }

  /** Holds no worker back that wants to end, unless it waits for a reply. */
  private launch(): ChildProcess {
    const child = spawn(process.execPath, ['--max-old-space-size=64', '-e', `(${starterProgram})()`], {
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (reply: StarterReply) => this.receive(reply));
    child.once('error', (error) => this.lose(child, error));
    child.once('disconnect', () => this.lose(child, new Error('the process that starts jobs has ended')));
    child.unref();
    child.channel?.unref();
    return child;
  }

  private receive(reply: StarterReply): void {
    if ('pid' in reply) {
      const started: StartedWrapper = { pid: reply.pid };
      this.running.set(reply.id, started);
      this.settle(reply.id)?.resolve(started);
    } else if ('end' in reply) {
      const started = this.running.get(reply.id);
      if (started) started.end = reply.end;
      this.running.delete(reply.id);
    } else {
      this.settle(reply.id)?.reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }));
    }
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.process?.channel?.unref();
    return waiting;
  }

  private lose(child: ChildProcess, error: Error): void {
    if (this.process !== child) return;
    this.process = undefined;
    for (const id of [...this.waiting.keys()]) this.settle(id)?.reject(error);
    this.running.clear();
  }
}
