/** So many a second, and so many at once after a pause. */
export interface Pace {
  perSec: number;
  burst: number;
}

export interface Bucket {
  tokens: number;
  /** When they were counted, ms. */
  at: number;
}

export interface Taken {
  bucket: Bucket;
  isTaken: boolean;
  /** Until there is a whole token again. */
  waitMs: number;
}

/** Takes one token, if there is one. A bucket that is not there yet is full. */
export function takeToken(bucket: Bucket | undefined, { perSec, burst }: Pace, now: number): Taken {
  const tokens = bucket ? tokensAt(bucket, { perSec, burst }, now) : burst;
  const isTaken = tokens >= 1;
  const left = isTaken ? tokens - 1 : tokens;
  return { bucket: { tokens: left, at: now }, isTaken, waitMs: left >= 1 ? 0 : ((1 - left) / perSec) * 1_000 };
}

/** A clock that was set back refills nothing. */
export const tokensAt = ({ tokens, at }: Bucket, { perSec, burst }: Pace, now: number): number =>
  Math.min(burst, tokens + (Math.max(0, now - at) / 1_000) * perSec);
