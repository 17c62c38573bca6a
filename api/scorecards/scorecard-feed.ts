import { setTimeout as sleep } from 'node:timers/promises';
import { PlatformError } from '../../contracts/errors.js';
import type { OldestRun } from '../../contracts/scorecard-events.js';
import type { ProgressStore } from '../../store/progress.store.js';
import type { Progress } from '../../store/scorecard-view.js';
import { unlessAborted } from '../common/aborted.js';

/** Looked at this often, whatever is noted. */
const LOOK_EVERY_MS = 1_000;
/** Notes do not make it more often than this. */
const REST_MS = 200;
/** Longer looks come less often, down to once a second: the totals of 100,000 runs take a while to count. */
const REST_PER_LOOK = 20;
/** With so few runs left, the oldest running one is named. */
const FEW = 5;

export interface FeedState {
  /** Number of the look that found it. */
  look: number;
  progress: Progress;
  oldest?: OldestRun;
}

/** How one scorecard stands, for all who watch it in this process: they share every look, and none is taken without them. */
export class ScorecardFeed {
  private latest: FeedState | undefined;
  private looks = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private restMs = 0;
  private looking: Promise<void> | undefined;
  private isNoted = false;
  private wake = (): void => {};

  constructor(
    private readonly scorecardId: string,
    private readonly store: Pick<ProgressStore, 'progress' | 'oldestRun'>,
  ) {}

  /** Something changed: the next look need not wait. */
  note(): void {
    this.isNoted = true;
    this.wake();
  }

  /** Looks that begin from now on have higher numbers. */
  get begun(): number {
    return this.looks;
  }

  /** What a look after that number finds; nothing once the signal aborts. */
  async next(after: number, signal: AbortSignal): Promise<FeedState | undefined> {
    while (!signal.aborted) {
      if (this.latest && this.latest.look > after) return this.latest;
      this.looking ??= this.lookWhenDue().finally(() => {
        this.looking = undefined;
      });
      await unlessAborted(this.looking, signal);
    }
    return undefined;
  }

  private async lookWhenDue(): Promise<void> {
    await this.rest(this.restMs);
    if (!this.isNoted) {
      const noted = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await Promise.race([noted, this.rest(LOOK_EVERY_MS)]);
    }
    this.isNoted = false;
    this.looks += 1;
    const began = performance.now();
    try {
      await this.look(this.looks);
    } catch (error) {
      // While the database is away nothing is new.
      if (!(error instanceof PlatformError) || error.code !== 'STORE_UNAVAILABLE') throw error;
    } finally {
      this.lookedAt = performance.now();
      this.restMs = Math.min(LOOK_EVERY_MS, Math.max(REST_MS, (this.lookedAt - began) * REST_PER_LOOK));
    }
  }

  private async look(number: number): Promise<void> {
    const progress = await this.store.progress(this.scorecardId);
    if (!progress) return;
    const { submitted, settled, running } = progress.counts;
    const isNearlyDone = running > 0 && submitted - settled <= FEW;
    const oldest = isNearlyDone ? await this.store.oldestRun(this.scorecardId) : undefined;
    this.latest = { look: number, progress, ...(oldest && { oldest }) };
  }

  /** Until so long after the last look. */
  private async rest(ms: number): Promise<void> {
    const left = this.lookedAt + ms - performance.now();
    if (left > 0) await sleep(left, undefined, { ref: false });
  }
}
