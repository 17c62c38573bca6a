import type { WouldDecide } from '../../contracts/gate.js';
import type { RetryClass } from '../../contracts/reroll.js';
import type { CaseResult } from '../case-result.js';
import { type Finding, MOST_LISTED, plural } from './finding.js';

interface Asked {
  candidate: string;
  baseline?: string;
  /** Trials that a case of the candidate was given, and those it needs to pass. */
  trials: number;
  needed: number;
}

/** What would decide an inconclusive verdict: the runs that are in doubt, and the calls that run them again. */
export function wouldDecide(findings: readonly Finding[], { candidate, baseline, trials, needed }: Asked): WouldDecide {
  const open = [...new Set(findings.flatMap((finding) => finding.open))];
  const now = open.flatMap(({ inDoubtNow }) => inDoubtNow);
  const before = open.flatMap(({ inDoubtBefore }) => inDoubtBefore);
  const runs = [...new Set([...now, ...before].map(({ runId }) => runId))];
  const moreTrials = Math.max(0, needed - trials);
  const more = `submit it anew with \`trials\`: ${needed}, ${plural(moreTrials, 'trial')} more than now`;
  const steps = [
    ...stepsFor(candidate, now),
    ...(moreTrials > 0 ? [more] : []),
    ...(baseline === undefined || baseline === candidate ? [] : stepsFor(baseline, before)),
  ];
  return {
    rerun: runs.slice(0, MOST_LISTED),
    rerunCount: runs.length,
    classes: [...new Set([...now, ...before].map(classOf))].filter((one) => one !== undefined).sort(),
    moreTrials,
    message: `${steps.join('; ')}; then gate what comes of it`,
  };
}

/** What a retry is asked for to run it again. What was decided by hand is among its failures and errors, which count. */
function classOf({ isDecided, outcome }: CaseResult): RetryClass | undefined {
  if (isDecided) return undefined;
  return outcome === 'errored' ? 'infra' : 'cancelled';
}

function stepsFor(scorecard: string, runs: readonly CaseResult[]): string[] {
  const retries = (['infra', 'cancelled'] as const).flatMap((one) => {
    const count = runs.filter((run) => classOf(run) === one).length;
    if (count === 0) return [];
    const cli = `everdict scorecard retry ${scorecard} --class ${one}`;
    return [`run ${plural(count, 'run')} again with \`${cli}\` (POST /scorecards/${scorecard}/retry?class=${one})`];
  });
  const decided = runs.filter(({ isDecided }) => isDecided).length;
  if (decided === 0) return retries;
  return [
    ...retries,
    `submit ${scorecard} anew, since ${plural(decided, 'run')} of it ${decided === 1 ? 'was' : 'were'} decided by hand`,
  ];
}
