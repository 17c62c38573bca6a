import fc from 'fast-check';
import { ratesOf, wilson } from './rates.js';

const share = fc
  .integer({ min: 1, max: 100_000 })
  .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));

describe('wilson', () => {
  test.each([
    [5, 10, 0.2366, 0.7634],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [1, 1, 0.2065, 1],
    [81, 263, 0.2553, 0.3662],
  ])('of %i in %i is from %d to %d', (passed, n, low, high) => {
    const rate = wilson(passed, n);
    expect(rate.rate).toBe(passed / n);
    expect(rate.low).toBeCloseTo(low, 4);
    expect(rate.high).toBeCloseTo(high, 4);
  });

  test('of nothing is nothing', () => {
    expect(wilson(0, 0)).toEqual({ n: 0, passed: 0, rate: null, low: null, high: null });
  });

  test('holds the share, and stays between 0 and 1', () => {
    fc.assert(
      fc.property(share, ([passed, n]) => {
        const { rate, low, high } = wilson(passed, n);
        expect([0, low, rate, high, 1]).toEqual([0, low, rate, high, 1].toSorted((a, b) => Number(a) - Number(b)));
      }),
    );
  });

  test('rises with every case that passes, and narrows with more cases', () => {
    fc.assert(
      fc.property(share, ([passed, n]) => {
        const [one, next, tenfold] = [
          wilson(passed, n),
          wilson(Math.min(n, passed + 1), n),
          wilson(passed * 10, n * 10),
        ];
        expect(Number(next.low)).toBeGreaterThanOrEqual(Number(one.low));
        expect(Number(next.high)).toBeGreaterThanOrEqual(Number(one.high));
        expect(Number(tenfold.high) - Number(tenfold.low)).toBeLessThan(Number(one.high) - Number(one.low));
      }),
    );
  });

  test('mirrors when passing and failing change places', () => {
    fc.assert(
      fc.property(share, ([passed, n]) => {
        expect(Number(wilson(n - passed, n).low)).toBeCloseTo(1 - Number(wilson(passed, n).high), 12);
      }),
    );
  });
});

describe('ratesOf', () => {
  test('keeps errored cases in the denominator: 2 of 8 with 2 infra errors is 25 %, and 33 % only where it says so', () => {
    const rates = ratesOf({ settled: 8, cancelled: 0, passedFirst: 1, passed: 2, infraErrors: 2 });
    expect(rates.firstAttempt).toMatchObject({ passed: 1, n: 8, rate: 0.125 });
    expect(rates.final).toMatchObject({ passed: 2, n: 8, rate: 0.25 });
    expect(rates.infraExcluded).toMatchObject({ passed: 2, n: 6, rate: 2 / 6 });
  });

  test('leaves cancelled cases out', () => {
    const { final, infraExcluded } = ratesOf({
      settled: 10,
      cancelled: 4,
      passedFirst: 3,
      passed: 3,
      infraErrors: 0,
    });
    expect([final.n, infraExcluded.n]).toEqual([6, 6]);
  });

  test('has no share when everything was cancelled or errored as infra', () => {
    expect(ratesOf({ settled: 3, cancelled: 3, passedFirst: 0, passed: 0, infraErrors: 0 }).final.rate).toBeNull();
    expect(
      ratesOf({ settled: 3, cancelled: 1, passedFirst: 0, passed: 0, infraErrors: 2 }).infraExcluded.rate,
    ).toBeNull();
  });
});
