import { aScorecard } from '../test/cli-fakes.js';
import { exitCodeOf } from './exit-codes.js';

test.each([
  ['all passed', { passed: 3 }, 'completed', 0],
  ['some failed', { passed: 2, failed: 1 }, 'completed', 1],
  ['all failed', { failed: 3 }, 'completed', 1],
  ['some errored', { passed: 2, errored: 1 }, 'completed', 2],
  ['some failed and some errored', { failed: 2, errored: 1 }, 'completed', 2],
  ['some were cancelled', { passed: 2, cancelled: 1 }, 'completed', 2],
  ['some were decided by an operator', { passed: 3, decided: 1 }, 'completed', 2],
  ['it was cancelled after all had passed', { passed: 2 }, 'cancelled', 2],
  ['nothing ran', {}, 'completed', 2],
])('a scorecard of which %s ends as it should', (_title, counts, status, want) => {
  expect(exitCodeOf({ ...aScorecard({ counts }), status: status === 'cancelled' ? 'cancelled' : 'completed' })).toBe(
    want,
  );
});

test.each([
  ['pass', 0],
  ['block', 1],
] as const)('one that ended early ends as its verdict, %s', (verdict, want) => {
  const stoppedEarly = { verdict, errorRate: 0.05, seen: 2, total: 9, reason: 'certain', at: '' };
  expect(exitCodeOf({ ...aScorecard({ counts: { passed: 1, failed: 1, cancelled: 7 } }), stoppedEarly })).toBe(want);
});
