import type { CaseResult } from '../case-result.js';
import type { Side } from '../comparison/side.js';
import { isDoubtful, isInfraErrored, isUnknown, type Standing, standingOf } from './standing.js';

/** A case that the candidate is expected to have: it is in the baseline, or in the candidate itself. */
export interface ExpectedCase {
  caseId: string;
  tags: readonly string[];
  now: Standing;
  /** In the baseline; absent: it is not in there. */
  before?: Standing;
  /** Whether it passed, or every trial of it is known. */
  isMeasured: boolean;
  /** Whether infrastructure failed a trial of it, and the others did not make it pass. */
  isInfraErrored: boolean;
  /** Trials that might still be passes, here and in the baseline. */
  inDoubtNow: readonly CaseResult[];
  inDoubtBefore: readonly CaseResult[];
}

function byCase(results: readonly CaseResult[]): Map<string, CaseResult[]> {
  const found = new Map<string, CaseResult[]>();
  for (const result of results) {
    const trials = found.get(result.caseId);
    if (trials) trials.push(result);
    else found.set(result.caseId, [result]);
  }
  return found;
}

/** What both sides are judged by. */
export interface TrialCounts {
  candidate: number;
  baseline: number;
  /** Of the trials of a case, so many must pass; absent: all that its side gave it. */
  needed?: number;
}

/** The cases of both sides, by id. */
export function expectedCases(candidate: Side, baseline: Side | undefined, trials: TrialCounts): ExpectedCase[] {
  const [now, before] = [byCase(candidate.results), byCase(baseline?.results ?? [])];
  const standing = (results: readonly CaseResult[], given: number): Standing =>
    standingOf(results, { trials: given, needed: trials.needed ?? given });
  const ids = [...new Set([...now.keys(), ...before.keys()])].sort();
  return ids.map((caseId) => {
    const [own, earlier] = [now.get(caseId) ?? [], before.get(caseId)];
    const stands = standing(own, trials.candidate);
    const isKnown = !own.some(isUnknown) && (trials.needed ?? 0) <= trials.candidate;
    return {
      caseId,
      tags: (own[0] ?? earlier?.[0])?.tags ?? [],
      now: stands,
      ...(earlier && { before: standing(earlier, trials.baseline) }),
      isMeasured: stands === 'passed' || (stands === 'failed' && isKnown),
      isInfraErrored: stands !== 'passed' && own.some(isInfraErrored),
      inDoubtNow: own.filter(isUnknown),
      inDoubtBefore: (earlier ?? []).filter(isDoubtful),
    };
  });
}
