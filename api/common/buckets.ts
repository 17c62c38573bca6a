import { type Bucket, type Pace, type Taken, takeToken, tokensAt } from '../../policy/token-bucket.js';

/** Full ones are forgotten beyond this. */
const MOST_KEPT = 10_000;

/** A token bucket for each key, in this process. */
export class Buckets {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    readonly pace: Pace,
    private readonly now: () => number = () => performance.now(),
  ) {}

  take(key: string): Taken {
    const now = this.now();
    const taken = takeToken(this.buckets.get(key), this.pace, now);
    if (this.buckets.size >= MOST_KEPT && !this.buckets.has(key)) this.forgetFull(now);
    this.buckets.set(key, taken.bucket);
    return taken;
  }

  /** Where none is full, the oldest goes: memory stays bounded whatever names are sent. */
  private forgetFull(now: number): void {
    for (const [key, bucket] of this.buckets) {
      if (tokensAt(bucket, this.pace, now) >= this.pace.burst) this.buckets.delete(key);
    }
    const [oldest] = this.buckets.keys();
    if (this.buckets.size >= MOST_KEPT && oldest !== undefined) this.buckets.delete(oldest);
  }
}
