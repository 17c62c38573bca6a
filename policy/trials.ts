import type { TrialReport } from '../contracts/comparison.js';
import { type CaseResult, passedOf } from './case-result.js';
import { wilson } from './rates.js';

/** Flaky cases that a report lists. */
const MOST_FLAKY = 100;

interface CaseTally {
  caseId: string;
  passed: number;
  failed: number;
  unknown: number;
}

function talliesOf(results: readonly CaseResult[]): CaseTally[] {
  const cases = new Map<string, CaseTally>();
  for (const result of results) {
    const { caseId } = result;
    const tally = cases.get(caseId) ?? { caseId, passed: 0, failed: 0, unknown: 0 };
    const passed = passedOf(result);
    if (passed === undefined) tally.unknown += 1;
    else if (passed) tally.passed += 1;
    else tally.failed += 1;
    cases.set(caseId, tally);
  }
  return [...cases.values()];
}

/**
 * The chance that `k` of a case's trials, drawn without replacement, all pass: C(passed, k) / C(trials, k), the unbiased
 * estimator of pass^k (Yao et al.: τ-bench, 2024, after the one of pass@k by Chen et al.: Evaluating Large Language Models
 * Trained on Code, 2021).
 */
function allPass(k: number, { passed, failed }: CaseTally): number {
  let share = 1;
  for (let i = 0; i < k && share > 0; i++) share *= (passed - i) / (passed + failed - i);
  return Math.max(0, share);
}

/**
 * The mean of a share over cases, with the 95 % Wilson interval of as many independent cases as vary like these (Franco
 * et al.: Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys, J Surv Stat Methodol 2019,
 * 7:334–364): trials of one case are alike, so they count for more than one case only as far as cases vary less. Unlike an
 * interval after Student it is honest where all cases agree.
 */
function shareOverCases(shares: readonly number[], drawsPerCase: number) {
  const n = shares.length;
  if (n === 0) return { rate: null, low: null, high: null };
  const rate = shares.reduce((sum, share) => sum + share, 0) / n;
  const variance = shares.reduce((sum, share) => sum + (share - rate) ** 2, 0) / Math.max(1, n - 1);
  const alike = rate > 0 && rate < 1 && n > 1 ? (rate * (1 - rate)) / Math.max(variance, Number.MIN_VALUE) : 1;
  const effective = n * Math.min(Math.max(1, alike), drawsPerCase);
  const { low, high } = wilson(rate * effective, effective);
  return { rate, low, high };
}

/** How far a case is from a coin. */
const fromCoin = ({ passed, failed }: CaseTally): number => Math.abs(passed / (passed + failed) - 0.5);

/** What the trials of a scorecard say of the harness: how often it passes once, how often every time, and where it is unsure. */
export function trialReport(results: readonly CaseResult[]): TrialReport {
  const cases = talliesOf(results);
  const known = cases.filter(({ unknown }) => unknown === 0);
  const trials = results.reduce((most, { trial }) => Math.max(most, trial), 1);
  const flaky = cases
    .filter(({ passed, failed }) => passed > 0 && failed > 0)
    .sort((a, b) => fromCoin(a) - fromCoin(b) || (a.caseId < b.caseId ? -1 : 1));
  const over = (k: number) =>
    shareOverCases(
      known.map((tally) => allPass(k, tally)),
      trials / k,
    );
  return {
    trials,
    cases: known.length,
    incomplete: cases.length - known.length,
    passAt1: { n: known.length, ...over(1) },
    passHatK: Array.from({ length: trials }, (_, i) => ({ k: i + 1, ...over(i + 1) })),
    flaky: flaky.slice(0, MOST_FLAKY).map(({ caseId, passed, failed }) => ({ caseId, passed, failed })),
    flakyCount: flaky.length,
  };
}
