import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../e2e/cli/processes.js';

/** What a user, or a service manager, takes to notice that a program ended. */
const RELAUNCH_MS = 500;

/** A program that is started again whenever it ends. */
export class KeptUp {
  private readonly programs: Program[] = [];
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();

  private constructor(
    private readonly start: () => Program | Promise<Program>,
    private readonly ready: RegExp,
  ) {}

  /** Returns once it has printed that it is ready. */
  static async start(start: () => Program | Promise<Program>, ready: RegExp): Promise<KeptUp> {
    const kept = new KeptUp(start, ready);
    const first = await start();
    kept.programs.push(first);
    kept.loop = kept.repeat(first);
    try {
      await first.printed(ready);
      return kept;
    } catch (error) {
      await kept.stop();
      throw error;
    }
  }

  private async repeat(first: Program): Promise<void> {
    for (let program = first; ; this.programs.push(program)) {
      await program.ended;
      await sleep(RELAUNCH_MS);
      if (this.isStopping) return;
      program = await this.start();
      if (this.isStopping) program.child.kill('SIGTERM');
    }
  }

  /** What all of them have printed. */
  get output(): string {
    return this.programs.map(({ out, err }) => out + err).join('\n---\n');
  }

  /** Whether the one that was started last runs, and has printed that it is ready. */
  get isUp(): boolean {
    const { child, out = '' } = this.programs.at(-1) ?? {};
    return child?.exitCode === null && child.signalCode === null && this.ready.test(out);
  }

  /** Whether it was this program, at any time. */
  is(pid: number): boolean {
    return this.programs.some(({ child }) => child.pid === pid);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.programs.at(-1)?.child.kill('SIGTERM');
    await this.loop;
  }
}
