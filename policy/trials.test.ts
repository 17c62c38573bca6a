import fc from 'fast-check';
import { aResult, someResults } from '../test/results.js';
import type { CaseResult } from './case-result.js';
import { wilson } from './rates.js';
import { trialReport } from './trials.js';

/** Trials of a case: `1` passed, `0` failed, `t` errored by the agent, `i` by infrastructure, `.` not ended. */
function trialsOf(caseId: string, ends: string): CaseResult[] {
  const parts: Record<string, Partial<CaseResult>> = {
    1: {},
    0: { outcome: 'failed' },
    t: { outcome: 'errored', errorClass: 'agent', errorCode: 'TIMEOUT' },
    i: { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST' },
    '.': { outcome: undefined },
  };
  return [...ends].map((end, at) => aResult(caseId, { ...parts[end], trial: at + 1 }));
}

test('pass@1 is the mean share of trials that passed, and pass^k that of all draws of k that pass', () => {
  const { trials, cases, passAt1, passHatK } = trialReport([
    ...trialsOf('always', '1111'),
    ...trialsOf('half', '1010'),
    ...trialsOf('never', '0t00'),
  ]);
  expect([trials, cases]).toEqual([4, 3]);
  expect(passAt1).toMatchObject({ n: 3, rate: 0.5 });
  // Of the half one: C(2,1)/C(4,1), C(2,2)/C(4,2), 0, 0.
  const expected = [1 + 1 / 2, 1 + 1 / 6, 1, 1].map((sum) => sum / 3);
  expect(passHatK.map(({ k }) => k)).toEqual([1, 2, 3, 4]);
  for (const [at, { rate }] of passHatK.entries()) expect(rate).toBeCloseTo(expected[at] ?? 0, 12);
});

test('a case of which a trial is not known is left out, and counted', () => {
  const results = [...trialsOf('a', '11'), ...trialsOf('b', '1i'), ...trialsOf('c', '.0')];
  expect(trialReport(results)).toMatchObject({ cases: 1, incomplete: 2, passAt1: { n: 1, rate: 1 } });
});

test('flaky cases come the closest to a coin first', () => {
  const results = [
    ...trialsOf('mostly', '1110'),
    ...trialsOf('coin', '10t1'),
    ...trialsOf('sure', '1111'),
    ...trialsOf('unknown', '1i0.'),
  ];
  const { flaky, flakyCount } = trialReport(results);
  expect(flaky).toEqual([
    { caseId: 'coin', passed: 2, failed: 2 },
    { caseId: 'unknown', passed: 1, failed: 1 },
    { caseId: 'mostly', passed: 3, failed: 1 },
  ]);
  expect(flakyCount).toBe(3);
});

test('without results there are no shares', () => {
  const nothing = { rate: null, low: null, high: null };
  expect(trialReport([])).toEqual({
    ...{ trials: 1, cases: 0, incomplete: 0, passAt1: { n: 0, ...nothing }, passHatK: [{ k: 1, ...nothing }] },
    ...{ flaky: [], flakyCount: 0 },
  });
});

test('one trial each has the interval of a pass rate', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), (ends) => {
      const { passAt1 } = trialReport(ends.flatMap((passed, at) => trialsOf(`case-${at}`, passed ? '1' : '0')));
      const { rate, low, high } = wilson(ends.filter(Boolean).length, ends.length);
      for (const [key, value] of Object.entries({ rate, low, high })) {
        expect(passAt1[key as 'rate']).toBeCloseTo(value ?? 0, 9);
      }
    }),
  );
});

test('pass^k falls with k from pass@1, and every interval holds its share', () => {
  fc.assert(
    fc.property(someResults(5), (results) => {
      const { passAt1, passHatK, cases } = trialReport(results);
      expect(passHatK[0]).toMatchObject({ rate: passAt1.rate, low: passAt1.low, high: passAt1.high });
      if (cases === 0) return;
      let before = 1;
      for (const { rate, low, high } of passHatK) {
        expect(rate).toBeLessThanOrEqual(before + 1e-12);
        expect([0, low, rate, high, 1]).toEqual([0, low, rate, high, 1].toSorted((a, b) => Number(a) - Number(b)));
        before = rate ?? 0;
      }
    }),
  );
});

test('trials that always agree say no more than one', () => {
  const results = Array.from({ length: 10 }, (_, at) => trialsOf(`case-${at}`, at < 7 ? '1111' : '0000')).flat();
  const { low, high } = trialReport(results).passAt1;
  const once = wilson(7, 10);
  expect(low).toBeCloseTo(once.low ?? 0, 2);
  expect(high).toBeCloseTo(once.high ?? 0, 2);
});
