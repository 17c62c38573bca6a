import type { CaseChange, Transition } from '../../contracts/comparison.js';
import { type CaseResult, caseKey, hasVerdict } from '../case-result.js';
import type { Pair } from './pairs.js';

export function transitionOf({ baseline, candidate }: Pair): Transition {
  if (!baseline) return 'new';
  if (!candidate) return 'missing';
  if (!hasVerdict(candidate)) return hasVerdict(baseline) ? 'errored' : 'unchanged';
  if (!hasVerdict(baseline)) return 'recovered';
  if (baseline.outcome === candidate.outcome) return 'unchanged';
  return candidate.outcome === 'passed' ? 'fixed' : 'regressed';
}

/** What a reader needs to see first. */
const WORST_FIRST: readonly Transition[] = [
  'regressed',
  'errored',
  'missing',
  'new',
  'recovered',
  'fixed',
  'unchanged',
];

const runOf = (result: CaseResult | undefined): CaseChange['baseline'] =>
  result
    ? {
        run: result.runId,
        outcome: result.outcome ?? null,
        errorClass: result.errorClass ?? null,
        errorCode: result.errorCode ?? null,
        reason: result.reason ?? null,
        scores: [...result.scores],
      }
    : null;

export interface Changes {
  counts: Record<Transition, number>;
  /** The worst, in the order of their pairs. */
  changes: CaseChange[];
  hasMore: boolean;
}

/** What became of every pair, and at most `limit` of those that changed. `isSingle`: a case is one pair. */
export function changesOf(pairs: readonly Pair[], isSingle: boolean, limit: number): Changes {
  const found = new Map<Transition, Pair[]>(WORST_FIRST.map((transition) => [transition, []]));
  for (const pair of pairs) found.get(transitionOf(pair))?.push(pair);
  const count = (transition: Transition): number => found.get(transition)?.length ?? 0;
  const worst = WORST_FIRST.filter((transition) => transition !== 'unchanged').flatMap((transition) =>
    (found.get(transition) ?? []).slice(0, limit).map((pair) => ({ transition, pair })),
  );
  return {
    counts: {
      regressed: count('regressed'),
      fixed: count('fixed'),
      errored: count('errored'),
      recovered: count('recovered'),
      new: count('new'),
      missing: count('missing'),
      unchanged: count('unchanged'),
    },
    changes: worst.slice(0, limit).flatMap(({ transition, pair }) => changeOf(transition, pair, isSingle)),
    hasMore: pairs.length - count('unchanged') > limit,
  };
}

function changeOf(transition: Transition, pair: Pair, isSingle: boolean): CaseChange[] {
  const either = pair.candidate ?? pair.baseline;
  if (!either) return [];
  const { caseId, trial, tags } = either;
  const key = isSingle ? caseId : caseKey(either);
  const sides = { baseline: runOf(pair.baseline), candidate: runOf(pair.candidate) };
  return [{ key, caseId, trial, tags: [...tags], transition, ...sides }];
}
