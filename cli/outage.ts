import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import { clock } from './text.js';

/** Time without an answer while waiting. Says when it begins and when it is over. */
export class Outage {
  private since: number | undefined;

  constructor(
    private readonly patienceMs: number,
    private readonly say: (message: string) => void,
  ) {}

  /** Swallows the failure for as long as patience lasts. */
  bear(error: unknown, now: number): undefined {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
    if (this.since === undefined) {
      this.since = now;
      this.say(`${error.message}; still waiting, for at most ${clock(this.patienceMs)}`);
    }
    if (now - this.since < this.patienceMs) return;
    const message = `${error.message} for ${clock(now - this.since)}`;
    throw new CliError(error.exitCode, message, error.nextStep, error.problem, { cause: error });
  }

  over(now: number): void {
    if (this.since === undefined) return;
    this.say(`the platform answers again after ${clock(now - this.since)}`);
    this.since = undefined;
  }
}
