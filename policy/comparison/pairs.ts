import { type CaseResult, caseKey } from '../case-result.js';
import type { Sides } from './side.js';

/** One trial of a case on both sides, or on the one that has it. */
export interface Pair {
  baseline?: CaseResult;
  candidate?: CaseResult;
}

export type WholePair = Required<Pair>;

export const isWhole = (pair: Pair): pair is WholePair => pair.baseline !== undefined && pair.candidate !== undefined;

/** In the order of the baseline; what only the candidate has comes last. */
export function pairsOf({ baseline, candidate }: Sides): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const result of baseline.results) pairs.set(caseKey(result), { baseline: result });
  for (const result of candidate.results) {
    const key = caseKey(result);
    const pair = pairs.get(key);
    if (pair) pair.candidate = result;
    else pairs.set(key, { candidate: result });
  }
  return [...pairs.values()];
}

/** Pairs of the same case together: trials of one case are not independent of each other. */
export function byCase(pairs: readonly WholePair[]): WholePair[][] {
  const cases = new Map<string, WholePair[]>();
  for (const pair of pairs) {
    const { caseId } = pair.baseline;
    const trials = cases.get(caseId);
    if (trials) trials.push(pair);
    else cases.set(caseId, [pair]);
  }
  return [...cases.values()];
}
