/** Pauses that grow: each is twice as long as the one before, up to the longest. */
export class Pace {
  private pauseMs: number;

  constructor(
    private readonly firstMs: number,
    private readonly longestMs: number,
  ) {
    this.pauseMs = firstMs;
  }

  nextMs(): number {
    const { pauseMs } = this;
    this.pauseMs = Math.min(this.longestMs, pauseMs * 2);
    return pauseMs;
  }

  reset(): void {
    this.pauseMs = this.firstMs;
  }
}

/** For a ticket that got no grant: it asks again after a minute, in the end every half hour. */
export const reAskPace = (): Pace => new Pace(60_000, 30 * 60_000);
/** For what failed for a reason that usually passes. */
export const repairPace = (): Pace => new Pace(1_000, 60_000);
