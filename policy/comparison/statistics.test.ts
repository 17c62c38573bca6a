import fc from 'fast-check';
import { mcnemar } from './mcnemar.js';
import { meanDifference } from './mean-difference.js';
import { pairedDifference } from './paired-difference.js';

const count = fc.integer({ min: 0, max: 300 });
/** Every chance of a fair coin's heads, by Pascal's triangle. */
function plainMcnemar(regressed: number, fixed: number): number {
  const n = regressed + fixed;
  let row = [1];
  for (let i = 0; i < n; i++) row = [...row, 0].map((value, at) => (value + (row[at - 1] ?? 0)) / 2);
  const tail = row.slice(0, Math.min(regressed, fixed) + 1).reduce((sum, value) => sum + value, 0);
  return Math.min(1, 2 * tail);
}

describe('the exact McNemar test', () => {
  // Fagerland, Lydersen, Laake 2013: airway reactivity (1 and 7) and complete response (6 and 16).
  test.each([
    [1, 7, 0.0703],
    [6, 16, 0.0525],
    [0, 0, 1],
    [5, 5, 1],
    [0, 1, 1],
    [0, 6, 0.03125],
  ])('of %i against %i is %d', (regressed, fixed, p) => {
    expect(mcnemar(regressed, fixed)).toBeCloseTo(p, 4);
  });

  test('is the sum of the binomial tails', () => {
    fc.assert(
      fc.property(count, count, (regressed, fixed) => {
        expect(mcnemar(regressed, fixed)).toBeCloseTo(plainMcnemar(regressed, fixed), 9);
      }),
    );
  });

  test('does not depend on which side is which', () => {
    fc.assert(fc.property(count, count, (a, b) => mcnemar(a, b) === mcnemar(b, a)));
  });

  test.each([
    // Normal approximation with continuity correction: |50,500 − 49,500| − 1 over √100,000 is 3.1591.
    [49_500, 50_500, 0.001_582_5],
    [49_999, 50_001, 0.997_477],
    [50_000, 50_000, 1],
  ])('holds for %i against %i changes', (regressed, fixed, p) => {
    expect(mcnemar(regressed, fixed)).toBeCloseTo(p, 5);
  });

  test('of 100,000 changes the one way is no NaN', () => {
    expect(mcnemar(100_000, 0)).toBe(0);
  });
});

describe('the interval of a paired difference', () => {
  // Regressed, fixed and pairs of published examples: the two of Fagerland, Lydersen, Laake 2014 by Tango's method, and
  // no change at all, where it is z² / (n + z²) each way.
  test.each([
    [7, 1, 21, -0.517, -0.026],
    [16, 6, 161, -0.124, -0.0054],
    [0, 0, 44, -0.0803, 0.0803],
  ])('after %i regressions and %i fixes of %i pairs is as published', (regressed, fixed, pairs, low, high) => {
    const found = pairedDifference(regressed, fixed, pairs);
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
  });

  test('turns around with the sides, holds the difference and stays within −1 and 1', () => {
    fc.assert(
      fc.property(count, count, count, (regressed, fixed, same) => {
        const pairs = regressed + fixed + same;
        const [there, back] = [pairedDifference(regressed, fixed, pairs), pairedDifference(fixed, regressed, pairs)];
        expect(there.difference ?? 0).toBeCloseTo(-(back.difference ?? 0), 12);
        expect(there.low ?? 0).toBeCloseTo(-(back.high ?? 0), 12);
        if (there.difference === null) return;
        expect(there.low).toBeGreaterThanOrEqual(-1);
        expect(there.low).toBeLessThanOrEqual(there.difference);
        expect(there.high).toBeGreaterThanOrEqual(there.difference);
        expect(there.high).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('narrows with more pairs', () => {
    const width = (n: number): number => {
      const { low, high } = pairedDifference(n / 10, n / 20, n);
      return (high ?? 0) - (low ?? 0);
    };
    expect(width(100_000)).toBeLessThan(0.005);
    expect([20, 200, 2_000].map(width)).toEqual([20, 200, 2_000].map(width).sort((a, b) => b - a));
  });

  test('of no pairs is none', () => {
    expect(pairedDifference(0, 0, 0)).toEqual({ difference: null, low: null, high: null });
  });
});

describe('the interval of a mean difference', () => {
  // Student 1908: hours of sleep gained with the second drug over the first, ten patients; t of 9 is 2.262.
  test('is that of the sleep data', () => {
    const found = meanDifference([1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4]);
    expect(found.difference).toBeCloseTo(1.58, 10);
    expect(found.low).toBeCloseTo(0.7001, 3);
    expect(found.high).toBeCloseTo(2.4599, 3);
  });

  test.each([
    [2, 12.706],
    [3, 4.3027],
    [4, 3.1824],
    [6, 2.5706],
    [31, 2.0423],
    [1_001, 1.9623],
  ])('of %i pairs takes the quantile of Student’s t', (n, t) => {
    const values = Array.from({ length: n }, (_, i) => i);
    const { difference, high } = meanDifference(values);
    const error = Math.sqrt((n * (n + 1)) / 12 / n);
    expect(((high ?? 0) - (difference ?? 0)) / error / t).toBeCloseTo(1, 2);
  });

  test('needs two pairs', () => {
    expect(meanDifference([])).toEqual({ difference: null, low: null, high: null });
    expect(meanDifference([3])).toEqual({ difference: 3, low: null, high: null });
  });
});
