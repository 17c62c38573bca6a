import { setTimeout as sleep } from 'node:timers/promises';
import type { ScorecardView } from '../../../contracts/scorecard.js';
import type { Counts } from '../../../contracts/scorecard-numbers.js';
import type { E2ePlatform } from '../platform.js';

const EVERY_MS = 20;

/** Reads a scorecard over HTTP all the time, also while parts of the platform are down. */
export class Sampler {
  readonly counts: Counts[] = [];
  /** Answers that were neither the scorecard nor a 503. */
  readonly strange: string[] = [];
  private readonly stopping = new AbortController();
  private readonly loop: Promise<void>;

  constructor(
    private readonly platform: E2ePlatform,
    private readonly id: string,
  ) {
    this.loop = this.repeat();
  }

  private async repeat(): Promise<void> {
    for (; !this.stopping.signal.aborted; await sleep(EVERY_MS)) {
      // Nobody listens while the API is down.
      const reply = await this.platform.call<ScorecardView>('GET', `/scorecards/${this.id}`).catch(() => undefined);
      if (reply?.status === 200) this.counts.push(reply.body.counts);
      else if (reply && reply.status !== 503) this.strange.push(`${reply.status} ${JSON.stringify(reply.body)}`);
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /** Every sample adds up, nothing settled is unsettled again, and everything that was answered was understood. */
  expectConserved(submitted: number): void {
    expect(this.strange).toEqual([]);
    expect(this.counts.length).toBeGreaterThan(0);
    let settledBefore = 0;
    for (const { queued, waiting, running, settled, passed, failed, errored, cancelled, ...rest } of this.counts) {
      expect({ ...rest, sum: queued + waiting + running + settled }).toMatchObject({ submitted, sum: submitted });
      expect(passed + failed + errored + cancelled).toBe(settled);
      expect(settled).toBeGreaterThanOrEqual(settledBefore);
      settledBefore = settled;
    }
  }
}
