import type { Rate, Rates } from '../contracts/scorecard-numbers.js';

/** Two-sided 95 % quantile of the normal distribution. */
const Z = 1.959963984540054;

const clamp = (share: number): number => Math.min(1, Math.max(0, share));

/** Share of `passed` in `n` with its 95 % Wilson score interval, which stays honest for small `n` and shares near 0 or 1. */
export function wilson(passed: number, n: number): Rate {
  if (n === 0) return { n, passed, rate: null, low: null, high: null };
  const rate = passed / n;
  const scale = 1 + Z ** 2 / n;
  const center = (rate + Z ** 2 / (2 * n)) / scale;
  const half = (Z / scale) * Math.sqrt((rate * (1 - rate)) / n + Z ** 2 / (4 * n ** 2));
  // Rounding must not push a bound past the share itself.
  return { n, passed, rate, low: clamp(Math.min(center - half, rate)), high: clamp(Math.max(center + half, rate)) };
}

export interface RateCounts {
  settled: number;
  cancelled: number;
  /** Passed at attempt 1. */
  passedFirst: number;
  passed: number;
  /** Errored with class `infra`. */
  infraErrors: number;
}

/** The pass rate three ways, of what is settled so far: provisional until everything is. Errored runs stay in the denominator, but for `infraExcluded`, which leaves infra out. */
export function ratesOf({ settled, cancelled, passedFirst, passed, infraErrors }: RateCounts): Rates {
  const n = settled - cancelled;
  return {
    firstAttempt: wilson(passedFirst, n),
    final: wilson(passed, n),
    infraExcluded: wilson(passed, n - infraErrors),
  };
}
