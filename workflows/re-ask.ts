const FIRST_MS = 60_000;
const LONGEST_MS = 30 * 60_000;

/** When to ask for a slot again: after a minute without a grant, then twice as long each time, at most half an hour. */
export class ReAsk {
  private waitMs = FIRST_MS;

  nextMs(): number {
    const waitMs = this.waitMs;
    this.waitMs = Math.min(LONGEST_MS, waitMs * 2);
    return waitMs;
  }

  reset(): void {
    this.waitMs = FIRST_MS;
  }
}
