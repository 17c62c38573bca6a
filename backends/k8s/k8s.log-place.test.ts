import fc from 'fast-check';
import { KubeletLog } from '../../test/kubelet-log.js';
import { StampedLines } from './k8s.log-lines.js';
import { LogSeen, PlacedLines } from './k8s.log-place.js';

const SEC = 1_000_000_000n;
const NOW = 1_796_043_525n * SEC;

/** Reads an answer as one reader that saw others before; what it tells, with its offset. */
function lay(seen: LogSeen, answer: Buffer, { isAnew = false, isCutBefore = false } = {}) {
  const placed = new PlacedLines(seen, isAnew);
  const lines = new StampedLines(placed, { isCutBefore, isFollow: false });
  lines.push(answer);
  lines.end();
  const fresh = placed.fresh();
  return { at: fresh?.at, text: fresh?.bytes.toString('latin1') ?? '', placed };
}

/** Lines that each say which they are, with timestamps so many nanoseconds after one another. */
function printed(steps: readonly number[], from = 0, log = new KubeletLog(16)): KubeletLog {
  let ns = NOW + BigInt(from) * SEC;
  for (const [index, step] of steps.entries()) {
    ns += BigInt(step);
    log.print(`line ${from + index}\n`, ns);
  }
  return log;
}
const all = (log: KubeletLog): string => Buffer.concat(log.printed).toString('latin1');

test('a second answer adds what it has beyond the first', () => {
  const log = printed([1, 1]);
  const seen = new LogSeen(0, undefined);
  expect(lay(seen, log.answer())).toMatchObject({ at: 0, text: 'line 0\nline 1\n' });
  log.print('line 2\n', NOW + SEC);
  expect(lay(seen, log.answer())).toMatchObject({ at: 14, text: 'line 2\n' });
  expect(lay(seen, log.answer()).text).toBe('');
});

test('lines with one timestamp are counted', () => {
  const log = printed([0, 0, 0]);
  const seen = new LogSeen(0, undefined);
  const answer = log.answer();
  expect(lay(seen, answer.subarray(0, answer.length / 3)).text).toBe('line 0\n');
  expect(lay(seen, answer)).toMatchObject({ at: 7, text: 'line 1\nline 2\n' });
});

test('a file that begins long after what was told is another one', () => {
  const log = printed([1, 1]);
  const seen = new LogSeen(0, undefined);
  lay(seen, log.answer());
  log.rotate();
  log.print('line 2\n', NOW + 6n * SEC);
  expect(lay(seen, log.answer())).toMatchObject({ text: '', placed: { isElsewhere: true } });
  expect(seen.isCut).toBe(false);
  expect(lay(seen, log.answer(), { isAnew: true })).toMatchObject({ at: 15, text: 'line 2\n' });
  expect(seen.isCut).toBe(true);
});

test('a file that begins soon after what was told is not known for another one by its first line', () => {
  const log = printed([1, 1]);
  const seen = new LogSeen(0, undefined);
  lay(seen, log.answer());
  log.rotate();
  log.print('line 2\n', NOW + SEC);
  expect(lay(seen, log.answer())).toMatchObject({ placed: { isElsewhere: false, isFound: false, hasLines: true } });
});

test('a clock that was set back is no other file', () => {
  const log = printed([1, 1]);
  log.print('line 2\n', NOW - 3_600n * SEC);
  const seen = new LogSeen(0, undefined);
  lay(seen, log.answer());
  log.print('line 3\n', NOW - 3_599n * SEC);
  expect(lay(seen, log.answer())).toMatchObject({ at: 21, text: 'line 3\n' });
});

test('a mark leads to its line, in a file of which the beginning was thrown away', () => {
  const log = printed([1, 1, 1]);
  log.rotate();
  printed([1, 1, 1], 3, log);
  const seen = new LogSeen(0, undefined);
  lay(seen, log.from(0, {}));
  const { mark } = seen;
  expect(mark).toMatchObject({ at: 35 });
  log.print('line 6\n', NOW + 9n * SEC);
  expect(lay(new LogSeen(42, mark), log.answer())).toMatchObject({ at: 42, text: 'line 6\n' });
  // What was not kept since the mark is told again.
  expect(lay(new LogSeen(37, mark), log.answer())).toMatchObject({ at: 37, text: 'ne 5\nline 6\n' });
});

test.each(['', 'x', '1 2 3', '0 2026'])('a mark that is none counts for nothing: %j', (mark) => {
  expect(lay(new LogSeen(0, { at: 7, mark }), printed([1]).answer())).toMatchObject({ at: 0 });
});

test('where the line of a mark was kept beyond what is stored, what lies between is left out', () => {
  const log = printed([1, 1, 1]);
  const seen = new LogSeen(0, undefined);
  lay(seen, log.answer());
  log.print('line 3\n', NOW + SEC);
  expect(lay(new LogSeen(7, seen.mark), log.answer())).toMatchObject({ at: 14, text: 'line 2\nline 3\n' });
});

const steps = fc.array(
  fc.oneof(
    fc.constantFrom(0, 0, 1, 1_000, 40_000_000_000),
    // As two streams do, whose lines are written a little later than they are stamped.
    fc.constantFrom(-45_000, 45_001),
    fc.nat({ max: 2_000_000_000 }),
  ),
  { minLength: 1, maxLength: 40 },
);
const cuts = fc.array(fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }), isNext: fc.boolean() }), {
  maxLength: 6,
});

test('answers that are cut anywhere tell all lines once, with their offsets, to one reader or to several', () => {
  fc.assert(
    fc.property(steps, cuts, (printedSteps, answers) => {
      const log = printed(printedSteps);
      let seen = new LogSeen(0, undefined);
      let told = '';
      for (const { share, isNext } of [...answers, { share: 1, isNext: false }]) {
        const answer = log.answer();
        const { at, text } = lay(seen, answer.subarray(0, Math.ceil(share * answer.length)));
        if (text) expect(at).toBe(told.length);
        told += text;
        if (isNext) seen = new LogSeen(told.length, seen.mark);
      }
      expect(told).toBe(all(log));
    }),
    { numRuns: 1_000 },
  );
});

test('where reading goes on from a time, no line is told twice or left out', () => {
  fc.assert(
    fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (printedSteps, share) => {
      const log = printed(printedSteps);
      const seen = new LogSeen(0, undefined);
      const whole = log.answer();
      const { text } = lay(seen, whole.subarray(0, Math.ceil(share * whole.length)));
      const stamp = seen.place ? Date.parse(seen.place.stamp) : 0;
      const sinceTime = new Date(stamp - 60_000).toISOString();
      const rest = lay(seen, log.answer({ sinceTime }), { isCutBefore: true });
      expect(text + rest.text).toBe(all(log));
    }),
    { numRuns: 500 },
  );
});

test('a file that is thrown away leaves a gap, and what is told behind it is all of the next one', () => {
  fc.assert(
    fc.property(steps, steps, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, share) => {
      const log = printed(one);
      const seen = new LogSeen(0, undefined);
      const whole = log.answer();
      const { text } = lay(seen, whole.subarray(0, Math.ceil(share * whole.length)));
      fc.pre(text.length > 0);
      log.rotate();
      const before = all(log).length;
      printed(other, 1_000, log);
      const first = lay(seen, log.answer());
      expect(first).toMatchObject({ text: '', placed: { isElsewhere: true } });
      const { at, text: rest } = lay(seen, log.answer(), { isAnew: true });
      expect([at, rest]).toEqual([text.length + 1, all(log).slice(before)]);
      expect(all(log).startsWith(text)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
