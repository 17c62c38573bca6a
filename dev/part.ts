import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive } from './process-id.js';

const LOOK_MS = 1_000;
/** Restarts of one part before the stack is given up. */
const MAX_RESTARTS = 5;

/** A process of the stack that is up. `pid` is absent for one that somebody else runs. */
export interface Running {
  pid?: number;
  /** For the status line. */
  detail: string;
  stop(): Promise<void>;
}

/** One process of the stack: how to start it, and to start it again if it dies. */
export class Part {
  private running: Running | undefined;
  private restarts = 0;
  private isWatched = false;
  private work: Promise<void> = Promise.resolve();
  private watcher: NodeJS.Timeout | undefined;

  constructor(
    readonly name: string,
    private readonly startOnce: () => Promise<Running>,
    private readonly say: (line: string) => void,
    private readonly lookMs = LOOK_MS,
  ) {}

  get pid(): number | undefined {
    return this.running?.pid;
  }

  async start(): Promise<void> {
    const begun = performance.now();
    this.running = await this.startOnce();
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    this.say(`  ${this.name.padEnd(9)} ready in ${seconds.padStart(4)} s   ${this.running.detail}`);
  }

  /** Starts it again whenever its process is gone; `failed` is called when that is of no use. */
  watch(changed: () => void, failed: (error: Error) => void): void {
    const { pid } = this;
    if (pid === undefined) return;
    const target = identify(pid);
    this.isWatched = true;
    this.watcher = setInterval(() => {
      if (isAlive(target)) return;
      clearInterval(this.watcher);
      this.work = this.restart(changed, failed);
    }, this.lookMs);
  }

  /** A start may fail while another part, which it needs, is not up again itself. */
  private async restart(changed: () => void, failed: (error: Error) => void): Promise<void> {
    this.say(`  ${this.name.padEnd(9)} ended unexpectedly (pid ${this.pid}); starting it again`);
    while (this.isWatched) {
      this.restarts += 1;
      if (this.restarts > MAX_RESTARTS) return failed(new Error(`${this.name} ended ${this.restarts} times`));
      try {
        await this.start();
        changed();
        return this.watch(changed, failed);
      } catch (error) {
        if (this.restarts === MAX_RESTARTS) return failed(error instanceof Error ? error : new Error(String(error)));
        this.say(`  ${this.name.padEnd(9)} did not come up; trying once more`);
        await sleep(this.lookMs);
      }
    }
  }

  /** Ends the watch, and waits for a restart that is going on. */
  async unwatch(): Promise<void> {
    this.isWatched = false;
    clearInterval(this.watcher);
    await this.work;
    clearInterval(this.watcher);
  }

  async stop(): Promise<void> {
    await this.unwatch();
    await this.running?.stop();
    this.running = undefined;
  }
}
