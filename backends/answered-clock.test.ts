import { AnsweredClock } from './answered-clock.js';

test('what passes without a word counts for now, and is taken back where the next try fails', () => {
  let now = 0;
  const clock = new AnsweredClock(() => now);
  expect(clock.assumedMs).toBe(0);
  clock.answered();
  now = 10;
  expect([clock.ms, clock.assumedMs]).toEqual([0, 10]);
  clock.answered();
  now = 30;
  expect([clock.ms, clock.assumedMs]).toEqual([10, 30]);
  clock.failed();
  expect([clock.ms, clock.assumedMs]).toEqual([10, 10]);
  now = 50;
  clock.answered();
  now = 55;
  clock.answered();
  expect([clock.ms, clock.assumedMs]).toEqual([15, 15]);
});
