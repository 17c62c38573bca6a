import fc from 'fast-check';
import { GateRules } from '../../contracts/gate.js';
import { anEarlyStop } from '../../test/builders.js';
import { aResult, aSide } from '../../test/results.js';
import type { CaseResult } from '../case-result.js';
import { judge } from '../gate/judge.js';
import { type EarlyTrial, earlyCase } from './early-case.js';
import { judgeEarly } from './judge.js';

const ENDS = {
  passed: { outcome: 'passed' },
  failed: { outcome: 'failed' },
  infra: { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST' },
  agent: { outcome: 'errored', errorClass: 'agent', errorCode: 'TIMEOUT' },
  decided: { outcome: 'passed', isDecided: true },
  cancelled: { outcome: 'cancelled' },
} as const satisfies Record<string, Partial<CaseResult>>;
type End = keyof typeof ENDS;

const aShare = fc.constantFrom(0, 0.25, 0.5, 0.7, 0.8, 1);
const aCount = fc.integer({ min: 0, max: 3 });
const anEnd = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<End>('passed', 'failed') },
  { weight: 1, arbitrary: fc.constantFrom<End>('infra', 'agent', 'decided') },
);
const aBound = fc.record({ minPassRate: aShare, maxRegressions: aCount }, { requiredKeys: [] });

/** Case `c-0` has the tag that rules are about, so that none is about nothing. */
const aScorecard = fc.integer({ min: 1, max: 3 }).chain((trials) =>
  fc.record({
    trials: fc.constant(trials),
    cases: fc.array(
      fc.record({
        isTagged: fc.boolean(),
        now: fc.array(anEnd, { minLength: trials, maxLength: trials }),
        before: fc.array(fc.oneof({ weight: 9, arbitrary: anEnd }, fc.constant<End>('cancelled')), {
          minLength: trials,
          maxLength: trials,
        }),
      }),
      { minLength: 1, maxLength: 10 },
    ),
    rules: fc
      .tuple(
        aBound,
        fc.record(
          {
            perTag: fc.record({ json: aBound.filter((bound) => Object.keys(bound).length > 0) }),
            critical: fc.constantFrom({ cases: ['c-0'] }, { tags: ['json'] }),
            minTrialsPassed: fc.integer({ min: 1, max: trials }),
            minCoverage: aShare,
            maxInfraShare: aShare,
          },
          { requiredKeys: [] },
        ),
      )
      .map(([bound, others]) => GateRules.safeParse({ minCoverage: 0, ...bound, ...others }))
      .filter(({ success }) => success)
      .map(({ data }) => data as GateRules),
    /** In which order trials end: by these keys. */
    order: fc.array(fc.nat(), { minLength: 10 * trials, maxLength: 10 * trials }),
  }),
);

test('without error, the early verdict is that of the gate over the whole scorecard, and none is missed', () => {
  let early = 0;
  fc.assert(
    fc.property(aScorecard, ({ trials, cases, rules, order }) => {
      const tagsOf = (at: number): string[] => (at === 0 || cases[at]?.isTagged ? ['json'] : []);
      const sideOf = (key: 'now' | 'before') => {
        const results = cases.flatMap((each, at) =>
          each[key].map((end, i) => aResult(`c-${at}`, { tags: tagsOf(at), trial: i + 1, ...ENDS[end] })),
        );
        return aSide(results, { trials });
      };
      const whole = judge({ rules, candidate: sideOf('now'), baseline: sideOf('before'), on: 'all' }).verdict;
      const plan = anEarlyStop(rules, { baseline: 'sc_0' });
      const all = cases.flatMap(({ now }, at) => now.map((_, i) => `${at}.${i}`));
      const inOrder = all.toSorted((a, b) => (order[all.indexOf(a)] ?? 0) - (order[all.indexOf(b)] ?? 0));
      const toTrial = (end: End): EarlyTrial => ({ isDecided: false, ...ENDS[end] });
      for (let settled = 0; settled <= all.length; settled += 1) {
        const ended = new Set(inOrder.slice(0, settled));
        const verdict = judgeEarly(
          plan,
          cases.map(({ now, before }, at) =>
            earlyCase(
              {
                caseId: `c-${at}`,
                tags: tagsOf(at),
                trials: now.map((end, i) => (ended.has(`${at}.${i}`) ? toTrial(end) : { isDecided: false })),
                before: before.map(toTrial),
              },
              rules.minTrialsPassed,
            ),
          ),
        )?.verdict;
        if (verdict !== undefined) expect(verdict).toBe(whole);
        else if (settled === all.length) expect(['pass', 'block']).not.toContain(whole);
        if (verdict !== undefined && settled < all.length) early += 1;
      }
    }),
    { numRuns: 500 },
  );
  expect(early).toBeGreaterThan(100);
});
