import { type CaseResult, hasVerdict } from '../case-result.js';

/**
 * How a case stands. `missing`: absent, cancelled or not finished, which nothing excuses. `unknown`: infrastructure
 * failed it or somebody decided it by hand, so its graders might still say either.
 */
export type Standing = 'passed' | 'failed' | 'missing' | 'unknown';

/** What a case needs to pass. */
export interface TrialRule {
  /** Trials that it was given. */
  trials: number;
  /** Of them, so many must pass. Above `trials`: more trials are needed. */
  needed: number;
}

/** How one trial stands. What a job, a harness or a configuration did wrong counts as a failure. */
function standingOfTrial(result: CaseResult): Standing {
  const { outcome, errorClass, isDecided } = result;
  if (isDecided) return 'unknown';
  if (outcome === undefined || outcome === 'cancelled') return 'missing';
  if (hasVerdict(result)) return outcome === 'passed' ? 'passed' : 'failed';
  return errorClass === 'infra' ? 'unknown' : 'failed';
}

/** Something that might still be a pass: unknown, or missing. */
export const isDoubtful = (trial: CaseResult): boolean => ['unknown', 'missing'].includes(standingOfTrial(trial));

export const isUnknown = (trial: CaseResult): boolean => standingOfTrial(trial) === 'unknown';

export const isInfraErrored = (trial: CaseResult): boolean =>
  !trial.isDecided && trial.outcome === 'errored' && trial.errorClass === 'infra';

/**
 * How a case stands by its trials. The order:
 * 1. enough of them passed,
 * 2. those that nobody knows, or that were never to be run, could still make it enough,
 * 3. some are missing,
 * 4. it failed.
 */
export function standingOf(results: readonly CaseResult[], { trials, needed }: TrialRule): Standing {
  const standings = results.map(standingOfTrial);
  const count = (wanted: Standing): number => standings.filter((standing) => standing === wanted).length;
  const passed = count('passed');
  if (passed >= needed) return 'passed';
  const notRun = Math.max(0, needed - trials);
  if (passed + count('unknown') + notRun >= needed) return 'unknown';
  const isMissing = count('missing') > 0 || results.length < trials;
  return isMissing ? 'missing' : 'failed';
}
