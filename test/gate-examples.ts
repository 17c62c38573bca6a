import type { GateReasonCode, GateVerdict } from '../contracts/gate.js';
import type { CaseResult } from '../policy/case-result.js';
import type { Side } from '../policy/comparison/side.js';
import { aResult, aSide } from './results.js';

type End = Partial<CaseResult>;
export const FAILED: End = { outcome: 'failed' };
export const INFRA: End = { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST' };
export const CANCELLED: End = { outcome: 'cancelled' };
export const DECIDED: End = { isDecided: true };
const TIMEOUT: End = { outcome: 'errored', errorClass: 'agent', errorCode: 'TIMEOUT' };
const OTHER_CASE: End = { contentHash: 'other' };
const OTHER_GRADERS: End = { gradersHash: 'other' };

type Ends = Record<number, End | 'absent'>;
type Parts = Partial<Side['scorecard']> & { size?: number };

/** 10 cases `c-0`, `c-1`, …, the first three with the tag `json`: passed, but for those that end otherwise. */
export function side(ends: Ends = {}, { size = 10, ...parts }: Parts = {}): Side {
  const results = Array.from({ length: size }, (_, at) => at).flatMap((at) => {
    const end = ends[at] ?? {};
    return end === 'absent' ? [] : [aResult(`c-${at}`, { tags: at < 3 ? ['json'] : [], ...end })];
  });
  return aSide(results, parts);
}

/** The same end for the cases from one to before another. */
export const many = (from: number, to: number, end: End | 'absent'): Ends =>
  Object.fromEntries(Array.from({ length: to - from }, (_, at) => [from + at, end]));

function rerolled(decidedAgain: number): Parts {
  const { counts, rates } = side().scorecard;
  const at = '2026-01-01T00:00:00.000Z';
  return {
    rerolls: [{ scorecard: 'sc_0', classes: ['failed'], retried: 3, decidedAgain, by: null, at, counts, rates }],
  };
}

export interface Example {
  when: string;
  verdict: GateVerdict;
  codes: GateReasonCode[];
  rules: Record<string, unknown>;
  candidate: Side;
  baseline?: Side;
  on?: 'intersection';
}

type Line = [when: string, candidate: Side, baseline?: Side, on?: 'intersection'];

/** Examples that end alike under the same rules. */
const lines = (
  verdict: GateVerdict,
  code: GateReasonCode | GateReasonCode[],
  rules: Example['rules'],
  all: Line[],
): Example[] =>
  all.map(([when, candidate, baseline, on]) => ({
    ...{ when, verdict, codes: [code].flat(), rules, candidate },
    ...(baseline && { baseline }),
    ...(on && { on }),
  }));

const ALL_PASS = { minPassRate: 1 };
const MOST_PASS = { minPassRate: 0.7 };
const NONE_REGRESSES = { maxRegressions: 0 };
const LAST_PASSES = { critical: { cases: ['c-9'] } };
const TAG_PASSES = { perTag: { json: { minPassRate: 0.9 } } };
const ANY_COVERAGE = { minPassRate: 0, minCoverage: 0 };
const FEW_BY_INFRA = { ...MOST_PASS, minCoverage: 0.5, maxInfraShare: 0.1 };

const PASSING: Example[] = [
  ...lines('pass', 'ALL_RULES_HOLD', ALL_PASS, [['every case passes', side()]]),
  ...lines('pass', 'ALL_RULES_HOLD', MOST_PASS, [
    ['the rate is met exactly', side(many(0, 3, FAILED))],
    ['only what infrastructure failed was run again', side({}, rerolled(0))],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', { ...MOST_PASS, ...NONE_REGRESSES }, [
    ['both scorecards are identical', side({ 0: FAILED }), side({ 0: FAILED })],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', { maxRegressions: 2 }, [
    ['as many regress as may', side({ 4: FAILED, 5: FAILED }), side()],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', NONE_REGRESSES, [
    ['a case fails that the baseline does not have', side({ 9: FAILED }), side({ 9: 'absent' })],
    ['only what is the same is compared', side({ 0: { ...FAILED, ...OTHER_GRADERS } }), side(), 'intersection'],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', TAG_PASSES, [['a case without the tag fails', side({ 5: FAILED })]]),
  ...lines('pass', 'ALL_RULES_HOLD', { ...LAST_PASSES, minCoverage: 0.9 }, [
    ['few enough are missing', side({ 0: CANCELLED })],
    ['infrastructure failed one that cannot matter', side({ 0: INFRA })],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', { ...FEW_BY_INFRA, maxInfraShare: 0.2 }, [
    ['infrastructure failed few enough', side(many(0, 2, INFRA))],
  ]),
  ...lines('pass', 'ALL_RULES_HOLD', { ...MOST_PASS, rerolls: 'any' }, [
    ['verdicts were run again, and may be', side({}, rerolled(2))],
  ]),
];

const BLOCKED: Example[] = [
  ...lines('block', 'PASS_RATE_BELOW_MINIMUM', ALL_PASS, [
    ['one fails', side({ 0: FAILED })],
    ['one breaks by its own fault', side({ 0: TIMEOUT })],
  ]),
  ...lines('block', ['PASS_RATE_BELOW_MINIMUM', 'COVERAGE_BELOW_MINIMUM'], ALL_PASS, [
    ['one fails, whatever infrastructure did to another', side({ 0: INFRA, 1: FAILED })],
  ]),
  ...lines('block', 'TOO_MANY_REGRESSIONS', { ...NONE_REGRESSES, minCoverage: 0.9 }, [
    ['a case regresses', side({ 4: FAILED }), side()],
    ['a case that passed is missing', side({ 4: 'absent' }), side()],
    ['a case regresses that is the same', side({ 0: OTHER_GRADERS, 1: FAILED }), side(), 'intersection'],
  ]),
  ...lines('block', 'TAG_PASS_RATE_BELOW_MINIMUM', TAG_PASSES, [['a case with the tag fails', side({ 0: FAILED })]]),
  ...lines('block', 'TOO_MANY_TAG_REGRESSIONS', { perTag: { json: NONE_REGRESSES } }, [
    ['a case with the tag regresses', side({ 0: FAILED }), side()],
  ]),
  ...lines('block', 'CRITICAL_CASE_NOT_PASSED', LAST_PASSES, [['a critical case fails', side({ 9: FAILED })]]),
  ...lines('block', 'CRITICAL_CASE_NOT_PASSED', { critical: { tags: ['json'] } }, [
    ['a case with a critical tag fails', side({ 1: FAILED })],
  ]),
  ...lines('block', 'VERDICTS_REROLLED', MOST_PASS, [['verdicts were run again', side({}, rerolled(2))]]),
];

const MISSING: Example[] = [
  ...lines('blocked_missing', 'COVERAGE_BELOW_MINIMUM', LAST_PASSES, [
    ['a case is absent', side({ 0: 'absent' }), side()],
    ['a case was cancelled', side({ 0: CANCELLED })],
    ['a case of the same dataset is absent', side({ 0: 'absent', 1: OTHER_GRADERS }), side(), 'intersection'],
  ]),
  ...lines('blocked_missing', 'COVERAGE_BELOW_MINIMUM', { maxRegressions: 9, minCoverage: 0.8 }, [
    ['cases are absent, and many new ones are there', side(many(0, 3, 'absent'), { size: 99 }), side()],
  ]),
  ...lines('blocked_missing', 'COVERAGE_BELOW_MINIMUM', ANY_COVERAGE, [
    ['it has less than it was submitted with', side({ 0: 'absent' }, { counts: side().scorecard.counts })],
  ]),
  ...lines('blocked_missing', 'NO_CASES', ANY_COVERAGE, [
    ['there is no case', side({}, { size: 0 })],
    ['no case ran', side(many(0, 10, CANCELLED))],
  ]),
  ...lines('blocked_missing', 'NO_CASES', { perTag: { sql: { minPassRate: 0 } } }, [['no case has the tag', side()]]),
  ...lines('blocked_missing', 'NO_CASES', { critical: { tags: ['sql'] } }, [['no case has the critical tag', side()]]),
  ...lines('blocked_missing', 'CRITICAL_CASE_UNKNOWN', { critical: { cases: ['c-9', 'c-99'] } }, [
    ['a critical case is nowhere', side()],
  ]),
];

const INCONCLUSIVE: Example[] = [
  ...lines('inconclusive', 'COVERAGE_BELOW_MINIMUM', LAST_PASSES, [
    ['infrastructure failed one', side({ 0: INFRA })],
    ['somebody decided one', side({ 0: DECIDED })],
  ]),
  ...lines('inconclusive', 'COVERAGE_BELOW_MINIMUM', ANY_COVERAGE, [
    ['infrastructure failed all', side(many(0, 10, INFRA))],
  ]),
  ...lines('inconclusive', 'UNDECIDED_CASES', { ...ALL_PASS, minCoverage: 0.5 }, [
    ['infrastructure failed one that decides', side({ 0: INFRA })],
  ]),
  ...lines('inconclusive', 'UNDECIDED_CASES', NONE_REGRESSES, [
    ['nobody knows whether a failure is new', side({ 0: FAILED }), side({ 0: INFRA })],
  ]),
  ...lines('inconclusive', 'INFRA_SHARE_ABOVE_MAXIMUM', FEW_BY_INFRA, [
    ['infrastructure failed too many', side(many(0, 2, INFRA))],
  ]),
];

const INCOMPARABLE: Example[] = [
  ...lines('not_comparable', 'DATASET_DIFFERS', NONE_REGRESSES, [
    ['the datasets differ', side({ 0: FAILED }, { datasetHash: 'other' }), side()],
  ]),
  ...lines('not_comparable', 'CASES_DIFFER', NONE_REGRESSES, [
    ['a case differs', side({ 0: OTHER_CASE }), side()],
    ['nothing is the same', side(many(0, 10, OTHER_CASE)), side(), 'intersection'],
  ]),
  ...lines('not_comparable', 'GRADERS_DIFFER', NONE_REGRESSES, [
    ['graders differ', side({ 0: OTHER_GRADERS }), side()],
  ]),
  ...lines('not_comparable', 'TRIALS_DIFFER', NONE_REGRESSES, [['trials differ', side({}, { trials: 2 }), side()]]),
];

/** What a gate says of what, by which reasons; the one of a scorecard that was stopped early is not among them. */
export const GATE_EXAMPLES: readonly Example[] = [PASSING, BLOCKED, MISSING, INCONCLUSIVE, INCOMPARABLE].flat();
