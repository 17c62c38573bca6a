import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive } from './process-id.js';

/** A part that is started again so often within so long is given up. */
const LIMIT = { restarts: 20, withinMs: 5 * 60_000 };
/** Restarts within this time count for the pause before the next one: none, then twice as long each time. */
const RECENT_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const LOOK_MS = 1_000;

/** A process of the stack that is up. `pid` is absent for one that somebody else runs. */
export interface Running {
  pid?: number;
  /** For the status line. */
  detail: string;
  stop(): Promise<void>;
}

export interface PartOptions {
  name: string;
  start: () => Promise<Running>;
  logFile: string;
  say: (line: string) => void;
  lookMs?: number;
  limit?: typeof LIMIT;
}

/** One process of the stack: how to start it, and to start it again if it dies. */
export class Part {
  readonly name: string;
  private running: Running | undefined;
  /** When it was started again. */
  private restarts: number[] = [];
  private isWatched = false;
  private readonly unwatched = new AbortController();
  private work: Promise<void> = Promise.resolve();
  private watcher: NodeJS.Timeout | undefined;

  constructor(private readonly options: PartOptions) {
    this.name = options.name;
  }

  get pid(): number | undefined {
    return this.running?.pid;
  }

  async start(): Promise<void> {
    const begun = performance.now();
    this.running = await this.options.start();
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    this.say(`ready in ${seconds.padStart(4)} s   ${this.running.detail}`);
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
    }, this.options.lookMs ?? LOOK_MS);
  }

  /** A start may fail while another part, which it needs, is not up again itself. */
  private async restart(changed: () => void, failed: (error: Error) => void): Promise<void> {
    this.say(`ended unexpectedly (pid ${this.pid}); starting it again`);
    let reason = '';
    while (this.isWatched) {
      if (!(await this.pause())) return failed(this.givenUp(reason));
      if (!this.isWatched) return;
      try {
        await this.start();
        changed();
        return this.watch(changed, failed);
      } catch (error) {
        const now = error instanceof Error ? error.message : String(error);
        if (now !== reason && this.isWatched) this.say(`did not come up, and is tried again: ${now}`);
        reason = now;
      }
    }
  }

  /** Longer the more often it was started again lately; false once that is too often. */
  private async pause(): Promise<boolean> {
    const now = performance.now();
    const { restarts, withinMs } = this.options.limit ?? LIMIT;
    this.restarts = [...this.restarts.filter((at) => now - at < withinMs), now];
    if (this.restarts.length > restarts) return false;
    const recent = this.restarts.filter((at) => now - at < RECENT_MS).length;
    if (recent === 1) return true;
    const ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (recent - 2));
    await sleep(ms, undefined, { signal: this.unwatched.signal }).catch(() => undefined);
    return true;
  }

  private givenUp(reason: string): Error {
    const { restarts, withinMs } = this.options.limit ?? LIMIT;
    return new Error(
      `${this.name} had to be started ${restarts} times within ${Math.round(withinMs / 60_000)} minutes and is given ` +
        `up; its log is ${this.options.logFile}. Nothing is lost: start again once the cause is mended` +
        (reason ? `.\nThe last reason: ${reason}` : ''),
    );
  }

  private say(what: string): void {
    this.options.say(`  ${this.name.padEnd(9)} ${what}`);
  }

  /** Ends the watch, and waits for a restart that is going on. */
  async unwatch(): Promise<void> {
    this.isWatched = false;
    this.unwatched.abort();
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
