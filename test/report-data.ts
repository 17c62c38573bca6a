import type { CaseChange, ComparedScorecard, Comparison, Transition, TrialReport } from '../contracts/comparison.js';
import type { GateResult, GateSummary, GateVerdict } from '../contracts/gate.js';
import type { ReportedRun, ScorecardReportData } from '../reports/data.js';
import { aRun, aScorecard } from './cli-fakes.js';

export function aComparedScorecard(fields: Parameters<typeof aScorecard>[0] = {}): ComparedScorecard {
  const { id, status, dataset, harness, runtime, trials, createdAt, counts, rates } = aScorecard(fields);
  const its = { dataset, datasetHash: 'd1', datasetCases: 10 };
  return { id, status, ...its, harness, runtime, trials, createdAt, counts, rates, rerolls: [] };
}

const NO_DELTA = { n: 0, baseline: null, candidate: null, difference: null, low: null, high: null };
const noDelta = { ...NO_DELTA, baselineTotal: null, candidateTotal: null };

const NO_TRANSITIONS = { regressed: 0, fixed: 0, errored: 0, recovered: 0, new: 0, missing: 0, unchanged: 0 };

/** A case that changed, as a comparison lists it. */
export const aChange = (caseId: string, transition: Transition, fields: Partial<CaseChange> = {}): CaseChange => ({
  key: caseId,
  caseId,
  trial: 1,
  tags: [],
  transition,
  baseline: { run: 'sc_0.1', outcome: 'passed', errorClass: null, errorCode: null, reason: null, scores: [] },
  candidate: { run: 'sc_1.1', outcome: 'failed', errorClass: null, errorCode: null, reason: 'is 5', scores: [] },
  ...fields,
});

/** A comparison of `sc_0` and `sc_1` with these changes. */
export function aComparison(changes: CaseChange[] = [], fields: Partial<Comparison> = {}): Comparison {
  const counts: Comparison['counts'] = { ...NO_TRANSITIONS };
  for (const { transition } of changes) counts[transition] += 1;
  return {
    baseline: aComparedScorecard({ id: 'sc_0', counts: { passed: 9, failed: 1 } }),
    candidate: aComparedScorecard({ counts: { passed: 8, failed: 2 } }),
    basis: 'all',
    differs: [],
    counts,
    changes,
    hasMore: false,
    graders: [],
    graderCount: 0,
    usage: {
      tokens: { ...noDelta, n: 10, baseline: 1000, candidate: 1200, difference: 200, low: 50, high: 350 },
      costUsd: { ...noDelta, n: 10, baseline: 0.01, candidate: 0.012, difference: 0.002, low: 0, high: 0.004 },
      steps: noDelta,
      durationMs: { ...noDelta, n: 10, baseline: 4000, candidate: 3000, difference: -1000, low: -1500, high: -500 },
    },
    test: {
      ...{ pairs: 10, regressed: counts.regressed, fixed: counts.fixed, pValue: 1 },
      ...{ difference: -0.1, low: -0.3, high: 0.1 },
    },
    ...fields,
  };
}

const REASONS = {
  pass: { code: 'ALL_RULES_HOLD', message: 'every rule holds' },
  block: { code: 'TOO_MANY_REGRESSIONS', message: '1 case regressed, 0 are allowed' },
  blocked_missing: { code: 'COVERAGE_BELOW_MINIMUM', message: '60 of 100 cases have a verdict' },
  not_comparable: { code: 'DATASET_DIFFERS', message: 'the datasets differ' },
  inconclusive: { code: 'UNDECIDED_CASES', message: 'the errored cases could decide' },
} as const;

/** What a gate said of `sc_1` against `sc_0`. */
export function aGate(verdict: GateVerdict = 'pass', fields: Partial<GateResult> = {}): GateResult {
  const rule = { rule: 'maxRegressions', limit: 0, actual: 1, cases: ['math/sum'], count: 1 };
  return {
    id: 'gate_1',
    verdict,
    effective: verdict,
    reasons: [{ ...REASONS[verdict], ...rule }],
    evidence: {
      ...{ expected: 10, covered: 10, missing: 0, infraErrored: 0, regressions: ['math/sum'], regressionCount: 1 },
      passRate: { n: 10, passed: 8, rate: 0.8, low: 0.49, high: 0.94 },
      candidate: aComparedScorecard(),
      baseline: aComparedScorecard({ id: 'sc_0' }),
      differs: [],
      basis: 'all',
      test: null,
      wouldDecide: null,
    },
    policy: {
      ref: 'main@1',
      hash: 'h',
      rules: { maxRegressions: 0, minCoverage: 1, maxInfraShare: 1, rerolls: 'infra' },
    },
    override: null,
    overrides: [],
    by: 'ann',
    createdAt: '2026-01-01T00:02:00.000Z',
    ...fields,
  };
}

export const aTrialReport = (fields: Partial<TrialReport> = {}): TrialReport => ({
  trials: 3,
  cases: 10,
  incomplete: 0,
  passAt1: { n: 10, rate: 0.8, low: 0.6, high: 1 },
  passHatK: [1, 2, 3].map((k) => ({ k, rate: 0.9 ** k, low: 0.5, high: 1 })),
  flaky: [],
  flakyCount: 0,
  ...fields,
});

export function reportData(fields: Partial<ScorecardReportData> = {}): ScorecardReportData {
  return { scorecard: aScorecard({ counts: { passed: 8, failed: 2 } }), runs: [], links: [], ...fields };
}

export const aReportedRun = (fields: Partial<ReportedRun> = {}): ReportedRun => ({ ...aRun(), ...fields });

/** The same as lists have it. */
export function aGateSummary({ evidence, reasons, policy, overrides: _overrides, ...gate }: GateResult): GateSummary {
  const { ref, hash } = policy;
  const [candidate, baseline] = [evidence.candidate.id, evidence.baseline?.id ?? null];
  return { ...gate, candidate, baseline, reasons: reasons.map(({ code }) => code), policy: { ref, hash } };
}
