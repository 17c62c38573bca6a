import type { Comparison } from '../../contracts/comparison.js';
import { graderChanges, testOf, usageDeltas } from './measures.js';
import { isWhole, pairsOf } from './pairs.js';
import { onIntersection, type Side } from './side.js';
import { changesOf } from './transition.js';

/** Graders that a comparison lists. */
const MOST_GRADERS = 100;

export interface ComparisonOptions {
  on: Comparison['basis'];
  /** Changes that are listed. */
  limit: number;
}

/** Everything that changed between two scorecards. On `all` of them nothing may be `incomparable`. */
export function compare(baseline: Side, candidate: Side, { on, limit }: ComparisonOptions): Comparison {
  const { differs, ...sides } =
    on === 'all' ? { baseline, candidate, differs: [] } : onIntersection(baseline, candidate);
  const pairs = pairsOf(sides);
  const whole = pairs.filter(isWhole);
  const isSingle = baseline.scorecard.trials === 1 && candidate.scorecard.trials === 1;
  const graders = graderChanges(whole, sides);
  return {
    baseline: baseline.scorecard,
    candidate: candidate.scorecard,
    basis: on,
    differs,
    ...changesOf(pairs, isSingle, limit),
    graders: graders.slice(0, MOST_GRADERS),
    graderCount: graders.length,
    usage: usageDeltas(whole, sides),
    test: testOf(whole),
  };
}
