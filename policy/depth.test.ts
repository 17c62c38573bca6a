import { retryAfterSec } from './depth.js';

describe('a submit that was refused comes back', () => {
  test.each([
    ['in a minute while nothing settles', { cap: 100, there: 100, asked: 10 }, 0, 60],
    ['once as many settled as are in the way', { cap: 100, there: 95, asked: 10 }, 0.5, 10],
    ['in a second at the soonest', { cap: 100, there: 100, asked: 1 }, 50, 1],
    ['in an hour at the latest', { cap: 1_000_000, there: 1_000_000, asked: 100_000 }, 1, 3_600],
    ['once all settled where it asks for more than there may be', { cap: 100, there: 20, asked: 500 }, 1, 20],
  ])('%s', (_title, shortfall, settledPerSec, sec) => {
    expect(retryAfterSec(shortfall, settledPerSec)).toBe(sec);
  });
});
