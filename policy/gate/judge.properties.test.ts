import fc from 'fast-check';
import { GateRules, type GateVerdict } from '../../contracts/gate.js';
import { aResult, aSide, someResults } from '../../test/results.js';
import type { CaseResult } from '../case-result.js';
import { type Judgement, judge } from './judge.js';

const TRIALS = 2;
const SHARES = [0, 0.25, 0.5, 0.75, 0.9, 1];
const share = fc.constantFrom(...SHARES);
const few = fc.nat(3);
/** Half of the cases have it, so that a rule over it is about something more often than not. */
const tagged = (results: readonly CaseResult[]): CaseResult[] =>
  results.map((each) => ({
    ...each,
    runId: `sc_1.${each.caseId}#${each.trial}`,
    tags: /[02468]$/.test(each.caseId) ? ['even'] : [],
  }));

const someRules = fc
  .record(
    {
      minPassRate: share,
      maxRegressions: few,
      perTag: fc.record({ even: fc.record({ minPassRate: share, maxRegressions: few }) }),
      critical: fc.constantFrom({ cases: ['case-0', 'case-1'] }, { tags: ['even'] }),
      minTrialsPassed: fc.integer({ min: 1, max: TRIALS + 1 }),
      minCoverage: share,
      maxInfraShare: share,
    },
    { requiredKeys: ['minCoverage', 'maxInfraShare'] },
  )
  .map((rules) => GateRules.safeParse(rules))
  .filter(({ success }) => success)
  .map(({ data }) => data as GateRules);

const sides = fc.record({
  baseline: fc.option(someResults(TRIALS).map(tagged), { nil: undefined }),
  candidate: someResults(TRIALS).map(tagged),
  rules: someRules,
});
type World = { rules: GateRules; candidate: CaseResult[]; baseline?: CaseResult[] | undefined };

/** `submitted`: what the candidate was submitted with, whatever is left of it. */
function judged({ rules, candidate, baseline }: World, submitted = candidate.length): Judgement {
  const { counts } = aSide(candidate).scorecard;
  const parts = { trials: TRIALS };
  return judge({
    rules,
    candidate: aSide(candidate, { ...parts, counts: { ...counts, submitted } }),
    ...(baseline && { baseline: aSide(baseline, parts) }),
    on: 'all',
  });
}

const verdictOf = (world: World, submitted?: number): GateVerdict => judged(world, submitted).verdict;

const FROM_GOOD: readonly GateVerdict[] = ['pass', 'inconclusive', 'block', 'blocked_missing', 'not_comparable'];
const badness = (verdict: GateVerdict): number => FROM_GOOD.indexOf(verdict);

const isPass = ({ outcome, isDecided }: CaseResult): boolean => outcome === 'passed' && !isDecided;
const FAILED: Partial<CaseResult> = { outcome: 'failed' };
const INFRA: Partial<CaseResult> = { outcome: 'errored', errorClass: 'infra' };

/** Some of the results, the same for the same numbers. */
const picked = fc.infiniteStream(fc.boolean());
const some = (results: readonly CaseResult[], picks: Iterator<boolean>): Set<CaseResult> =>
  new Set(results.filter(() => picks.next().value));

/** Runs of each property: about a second for all of them. */
const numRuns = 200;
const holds = <Ts extends [unknown, ...unknown[]]>(property: fc.IProperty<Ts>): void =>
  fc.assert(property, { numRuns });

describe('no verdict gets better', () => {
  const never = (change: (results: CaseResult[], chosen: Set<CaseResult>) => CaseResult[]): void =>
    holds(
      fc.property(sides, picked, (world, picks) => {
        const changed = change(world.candidate, some(world.candidate, picks));
        const [before, after] = [verdictOf(world), verdictOf({ ...world, candidate: changed }, world.candidate.length)];
        expect(badness(after)).toBeGreaterThanOrEqual(badness(before));
      }),
    );

  test('by runs that fail', () => {
    never((results, chosen) =>
      results.map((each) => (chosen.has(each) && isPass(each) ? { ...each, ...FAILED } : each)),
    );
  });

  test('by passes that infrastructure takes', () => {
    never((results, chosen) =>
      results.map((each) => (chosen.has(each) && isPass(each) ? { ...each, ...INFRA } : each)),
    );
  });

  test('by runs that are dropped', () => {
    never((results, chosen) => results.filter((each) => !chosen.has(each)));
  });

  test('by cases that are dropped', () => {
    never((results, chosen) => {
      const dropped = new Set([...chosen].map(({ caseId }) => caseId));
      return results.filter(({ caseId }) => !dropped.has(caseId));
    });
  });
});

test('what blocks goes on to when failing cases come in', () => {
  holds(
    fc.property(sides, fc.integer({ min: 1, max: 40 }), (world, more) => {
      const added = Array.from({ length: more * TRIALS }, (_, at) =>
        aResult(`more-${Math.floor(at / TRIALS)}`, { trial: (at % TRIALS) + 1, ...FAILED }),
      );
      const after = verdictOf({ ...world, candidate: [...world.candidate, ...added] });
      if (verdictOf(world) === 'block') expect(after).toBe('block');
    }),
  );
});

test('the order of cases and their names say nothing', () => {
  holds(
    fc.property(sides, picked, (world, picks) => {
      const turned = (results: CaseResult[]): CaseResult[] =>
        [...results].reverse().map((each) => ({ ...each, caseId: `a ${each.caseId.split('').reverse().join('')}` }));
      const { rules, candidate, baseline } = world;
      const chosen = some(candidate, picks);
      const mixed = [...candidate.filter((each) => chosen.has(each)), ...candidate.filter((each) => !chosen.has(each))];
      expect(verdictOf({ ...world, candidate: mixed })).toBe(verdictOf(world));
      if (rules.critical?.cases) return;
      const renamed = { rules, candidate: turned(candidate), baseline: baseline && turned(baseline) };
      expect(verdictOf(renamed)).toBe(verdictOf(world));
    }),
  );
});

test('a scorecard against itself is what it is alone, for nothing of it regressed', () => {
  holds(
    fc.property(sides, ({ rules, candidate }) => {
      const known = candidate.map((each) => (isPass(each) ? each : { ...each, ...FAILED, isDecided: false }));
      expect(verdictOf({ rules, candidate: known, baseline: known })).toBe(verdictOf({ rules, candidate: known }));
    }),
  );
});

/** Every way in which the trials that nobody knows may turn out. */
function completions(results: readonly CaseResult[], isOpen: (each: CaseResult) => boolean): CaseResult[][] {
  const [first, ...rest] = results;
  if (!first) return [[]];
  const ends = isOpen(first) ? (['passed', 'failed'] as const) : [undefined];
  return completions(rest, isOpen).flatMap((tail) =>
    ends.map((outcome) => [outcome ? { ...first, outcome, isDecided: false } : first, ...tail]),
  );
}

const isUnknown = ({ isDecided, errorClass }: CaseResult): boolean => isDecided || errorClass === 'infra';
const isUnknownBefore = (each: CaseResult): boolean => isUnknown(each) || each.outcome === 'cancelled';

test('the verdict is the one that all completions agree on, else inconclusive', () => {
  const small = (results: CaseResult[]): CaseResult[] => results.filter(({ caseId }) => /-[0-5]$/.test(caseId));
  const open = (results: CaseResult[], isOpen: (each: CaseResult) => boolean): number => results.filter(isOpen).length;
  holds(
    fc.property(sides, (world) => {
      const rules = { ...world.rules, minCoverage: 0, maxInfraShare: 1 };
      const [candidate, baseline] = [small(world.candidate), world.baseline && small(world.baseline)];
      fc.pre(open(candidate, isUnknown) + open(baseline ?? [], isUnknownBefore) <= 6);
      fc.pre((rules.minTrialsPassed ?? 0) <= TRIALS);
      const { verdict, evidence } = judged({ rules, candidate, baseline });
      const all = completions(candidate, isUnknown).flatMap((now) =>
        (baseline ? completions(baseline, isUnknownBefore) : [undefined]).map(
          (before) => verdictOf({ rules, candidate: now, baseline: before }) === 'pass',
        ),
      );
      if (all.every(Boolean) && evidence.covered > 0) expect(verdict).toBe('pass');
      else if (all.some(Boolean)) expect(verdict).toBe('inconclusive');
      else expect(['block', 'blocked_missing']).toContain(verdict);
    }),
  );
});
