import type { Incomparable } from '../../contracts/comparison.js';
import type { GateEvidence } from '../../contracts/gate.js';
import type { CaseResult } from '../case-result.js';
import { incomparable, onIntersection, type Side } from '../comparison/side.js';

/** What a gate looks at. */
export interface Judged {
  candidate: Side;
  baseline?: Side;
  /** Trials that each side gave a case, as far as they are compared. */
  trials: { candidate: number; baseline: number };
  /** What the two differ in. On `all`, they cannot be compared for it; else it was left out. */
  differs: readonly Incomparable[];
  basis: GateEvidence['basis'];
}

/**
 * The sides of a gate. On an intersection, only what differs is left out: a case of the same dataset that one side does
 * not have is missing there, and not another. Where nothing differs, all is compared.
 */
export function judgedSides(candidate: Side, baseline: Side | undefined, on: GateEvidence['basis']): Judged {
  const trials = { candidate: candidate.scorecard.trials, baseline: baseline?.scorecard.trials ?? 0 };
  const differs = baseline ? incomparable(baseline, candidate) : [];
  if (!baseline || on === 'all' || differs.length === 0) {
    return { candidate, ...(baseline && { baseline }), trials, differs, basis: 'all' };
  }
  const cut = onIntersection(baseline, candidate);
  const least = Math.min(trials.candidate, trials.baseline);
  const isSameDataset = baseline.scorecard.datasetHash === candidate.scorecard.datasetHash;
  const whole = (own: Side, other: Side, results: readonly CaseResult[]): Side =>
    isSameDataset ? { ...own, results: [...results, ...alone(own, other, least)] } : { ...own, results };
  return {
    candidate: whole(candidate, baseline, cut.candidate.results),
    baseline: whole(baseline, candidate, cut.baseline.results),
    trials: { candidate: least, baseline: least },
    differs: isSameDataset ? differs : cut.differs,
    basis: on,
  };
}

/** Results of cases that the other side does not have. */
function alone(own: Side, other: Side, trials: number): CaseResult[] {
  const others = new Set(other.results.map(({ caseId }) => caseId));
  return own.results.filter(({ caseId, trial }) => !others.has(caseId) && trial <= trials);
}
