import type { EarlyStopPlan } from '../../contracts/early-stop.js';
import type { GateRules } from '../../contracts/gate.js';
import { criteriaOf, type Standing, standingOf } from './criteria.js';
import type { EarlyCase } from './early-case.js';

/** A verdict that the rest of a scorecard would not change. */
export interface EarlyVerdict {
  verdict: 'pass' | 'block';
  /** Cases that had a verdict, of `total`. */
  seen: number;
  total: number;
  reason: string;
}

/**
 * The verdict that a gate gives of the whole scorecard, as soon as it differs from that with a chance of at most
 * `errorRate`. `cases` are all of the scorecard, in an order drawn at random.
 *
 * 1. Nothing is said before `minCases` have a verdict, or once something was cancelled.
 * 2. Block: a critical case failed, or a criterion is violated. Any one of them would do, so they share half of the error
 *    rate between them (union bound).
 * 3. Pass: every critical case passed, the coverage is reached, no infrastructure can exceed its share any more, and every
 *    criterion holds. It takes one that does not hold to be wrong, so each has the other half whole.
 *
 * Both halves count where the whole scorecard is inconclusive. Critical cases, coverage and infrastructure are never
 * guessed, and with an `errorRate` of 0 nothing is.
 */
export function judgeEarly(plan: EarlyStopPlan, cases: readonly EarlyCase[]): EarlyVerdict | undefined {
  const { rules } = plan.policy;
  const seen = cases.filter(({ known }) => known === 'passed' || known === 'failed').length;
  if (seen < plan.minCases || cases.some(({ isCancelled }) => isCancelled)) return undefined;
  const end = (verdict: EarlyVerdict['verdict'], reason: string): EarlyVerdict => ({
    ...{ verdict, seen, total: cases.length },
    reason: `after ${seen} of ${cases.length} cases ${reason}`,
  });

  const critical = cases.filter(isCriticalBy(rules));
  const lost = critical.find(({ known }) => known === 'failed');
  if (lost) return end('block', `critical case ${lost.caseId} did not pass`);
  const standings = criteriaOf(rules, cases).map((criterion) => standingOf(criterion, cases));
  const toBlock = (2 * standings.length) / plan.errorRate;
  const violated = standings.find(({ evidence }) => evidence.violated >= toBlock);
  if (violated) return end('block', sentence(violated, 'violated', plan.errorRate));

  const isSound = critical.every(({ known }) => known === 'passed') && isCovered(rules, cases);
  if (!isSound || standings.some(({ evidence }) => evidence.held < 2 / plan.errorRate)) return undefined;
  return end(
    'pass',
    standings.map((standing) => sentence(standing, 'held', plan.errorRate)).join('; ') || 'all rules hold',
  );
}

export const isCriticalBy =
  ({ critical }: GateRules) =>
  ({ caseId, tags }: Pick<EarlyCase, 'caseId' | 'tags'>): boolean =>
    (critical?.cases?.some((id) => id === caseId) ?? false) ||
    (critical?.tags?.some((tag) => tags.includes(tag)) ?? false);

/** Enough cases are measured already, at least one, and infrastructure stays within its share even if it fails all the others. */
function isCovered({ minCoverage, maxInfraShare }: GateRules, cases: readonly EarlyCase[]): boolean {
  const covered = cases.filter(({ isMeasured }) => isMeasured).length;
  const infra = cases.filter(({ mayBeInfra }) => mayBeInfra).length;
  return covered > 0 && covered / cases.length >= minCoverage && infra / cases.length <= maxInfraShare;
}

function sentence(
  { criterion, failed, known, evidence }: Standing,
  side: 'violated' | 'held',
  errorRate: number,
): string {
  const allowed = `${failed} of ${known} did not pass where ${criterion.most} of ${criterion.size} may`;
  const isSure = evidence[side] === Number.POSITIVE_INFINITY;
  return `${criterion.rule}: ${allowed}, ${isSure ? 'whatever the rest does' : `at an error rate of ${errorRate}`}`;
}
