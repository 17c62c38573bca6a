import type { EarlyStopPlan } from '../../contracts/early-stop.js';
import type { GateRules } from '../../contracts/gate.js';
import { anEarlyStop } from '../../test/builders.js';
import { type EarlyCase, type EarlyTrial, earlyCase, knownOfTrials } from './early-case.js';
import { judgeEarly } from './judge.js';

const PASSED: EarlyTrial = { outcome: 'passed', isDecided: false };
const FAILED: EarlyTrial = { outcome: 'failed', isDecided: false };
const INFRA: EarlyTrial = { outcome: 'errored', errorClass: 'infra', isDecided: false };
const AGENT: EarlyTrial = { outcome: 'errored', errorClass: 'agent', isDecided: false };
const DECIDED: EarlyTrial = { outcome: 'passed', isDecided: true };
const CANCELLED: EarlyTrial = { outcome: 'cancelled', isDecided: false };
const OPEN: EarlyTrial = { isDecided: false };

const planOf = (rules: Partial<GateRules>, parts: Partial<EarlyStopPlan> = {}): EarlyStopPlan =>
  anEarlyStop({ minCoverage: 0, ...rules }, { errorRate: 0.05, ...parts });

/** One case a letter: p(assed), f(ailed), i(nfra), c(ancelled), `.` open; a capital one, and `-` for an open one, passed in the baseline. */
const LETTERS: Record<string, EarlyTrial> = { p: PASSED, f: FAILED, i: INFRA, c: CANCELLED, '.': OPEN, '-': OPEN };
const casesOf = (letters: string, tags: string[] = []): EarlyCase[] =>
  [...letters].map((letter, i) => {
    const trial = LETTERS[letter.toLowerCase()];
    if (!trial) throw new Error(`no letter ${letter}`);
    const before = letter !== letter.toLowerCase() || letter === '-' ? [PASSED] : [FAILED];
    return earlyCase({ caseId: `case-${i}`, tags, trials: [trial], before });
  });

test.each([
  ['passed', [PASSED], 1],
  ['failed', [FAILED, OPEN], 2],
  ['passed', [PASSED, OPEN], 1],
  [undefined, [PASSED, OPEN], 2],
  ['failed', [AGENT], 1],
  ['unknown', [INFRA], 1],
  ['unknown', [DECIDED], 1],
  ['unknown', [INFRA, PASSED], 2],
  ['failed', [INFRA, FAILED], 2],
  ['passed', [INFRA, PASSED, FAILED], 1],
  [undefined, [INFRA, OPEN], 2],
] as const)('a case is known to be %s of trials %j if %i must pass', (want, trials, needed) => {
  expect(knownOfTrials(trials, needed)).toBe(want);
});

test.each([
  ['block', 'once more failed than may, whatever the rest does', { minPassRate: 0.5 }, 'ffff....ff'],
  [undefined, 'is not said while the rest could save it', { minPassRate: 0.5 }, 'fffff.....'],
  ['pass', 'once enough passed', { minPassRate: 0.5 }, 'ppppp.....'],
  [undefined, 'is not said while the rest could spoil it', { minPassRate: 0.5 }, 'pppp......'],
  ['block', 'on the first regression where none may be', { maxRegressions: 0 }, 'PPPF------'],
  [undefined, 'ignores what failed before, too', { maxRegressions: 0 }, 'PPPf------'],
  ['pass', 'once all that could regress did not', { maxRegressions: 0 }, 'PPPf......'],
  ['block', 'on a critical case that failed', { critical: { cases: ['case-1'] } }, 'pf........'],
  [undefined, 'waits for a critical case', { minPassRate: 0.1, critical: { cases: ['case-9'] } }, 'ppppppppp.'],
  [undefined, 'takes no infrastructure error for a failure', { minPassRate: 0.5 }, 'iiiiiiii..'],
  [undefined, 'takes none for a pass', { maxRegressions: 0 }, 'PPPI'],
  [undefined, 'passes only with the coverage', { minPassRate: 0.5, minCoverage: 0.8 }, 'ppppppp...'],
  ['pass', 'passes with the coverage', { minPassRate: 0.5, minCoverage: 0.8 }, 'pppppppp..'],
  [
    undefined,
    'passes only if infrastructure stays in its share',
    { minPassRate: 0.5, maxInfraShare: 0.1 },
    'pppppppp..',
  ],
  ['pass', 'passes where it does', { minPassRate: 0.5, maxInfraShare: 0.1 }, 'ppppppppp.'],
  [undefined, 'says nothing of what was cancelled', { minPassRate: 0.5 }, 'ppppppppc.'],
  ['block', 'judges a tag by itself', { perTag: { all: { minPassRate: 1 } } }, 'pppf......'],
] as const)('without error: %s, %s', (verdict, _title, rules, letters) => {
  const found = judgeEarly(planOf(rules as Partial<GateRules>, { errorRate: 0 }), casesOf(letters, ['all']));
  expect(found?.verdict).toBe(verdict);
});

test.each([
  [undefined, 'a trial that infrastructure failed', [FAILED, INFRA, PASSED], { minCoverage: 0.95 }],
  [undefined, 'a trial that still runs', [FAILED, OPEN, PASSED], { minCoverage: 0.95 }],
  [undefined, 'a trial that infrastructure failed', [FAILED, INFRA, PASSED], { maxInfraShare: 0.05 }],
  [undefined, 'a trial that still runs', [FAILED, OPEN, PASSED], { maxInfraShare: 0.05 }],
  ['pass', 'only trials that are known', [FAILED, AGENT, PASSED], { minCoverage: 0.9, maxInfraShare: 0.05 }],
] as const)('without error: %s where two cases failed with %s, case %#', (verdict, _title, trials, rules) => {
  const cases = Array.from({ length: 20 }, (_, i) => {
    const ended = i < 2 ? trials : [PASSED, PASSED, PASSED];
    return earlyCase({ caseId: `case-${i}`, tags: [], trials: i === 19 ? [OPEN, OPEN, OPEN] : ended });
  });
  expect(judgeEarly(planOf({ minPassRate: 0.5, ...rules }, { errorRate: 0 }), cases)?.verdict).toBe(verdict);
});

test('says nothing before as many cases as were asked for have a verdict', () => {
  const cases = casesOf('ffff......');
  expect(judgeEarly(planOf({ minPassRate: 1 }, { minCases: 5 }), cases)).toBeUndefined();
  expect(judgeEarly(planOf({ minPassRate: 1 }, { minCases: 4 }), cases)).toEqual({
    verdict: 'block',
    seen: 4,
    total: 10,
    reason: 'after 4 of 10 cases minPassRate: 4 of 4 did not pass where 0 of 10 may, whatever the rest does',
  });
});

test('at an error rate, a sample is enough, and says so', () => {
  const sample = `${'p'.repeat(100)}${'.'.repeat(400)}`;
  expect(judgeEarly(planOf({ minPassRate: 0.8 }), casesOf(sample))).toEqual({
    verdict: 'pass',
    seen: 100,
    total: 500,
    reason: 'after 100 of 500 cases minPassRate: 0 of 100 did not pass where 100 of 500 may, at an error rate of 0.05',
  });
  expect(judgeEarly(planOf({ minPassRate: 0.8 }, { errorRate: 0 }), casesOf(sample))).toBeUndefined();
});

test('what ended before the others is no sample', () => {
  const quick = `.${'p'.repeat(100)}${'.'.repeat(399)}`;
  expect(judgeEarly(planOf({ minPassRate: 0.8 }), casesOf(quick))).toBeUndefined();
});
