import type { ErrorClass } from '../../contracts/attempt.js';
import type { Outcome } from '../../contracts/run.js';

/** What is known of a case: `unknown` if it ended without telling, as when its infrastructure failed. */
export type Known = 'passed' | 'failed' | 'unknown';

/** One trial, as far as it went. */
export interface EarlyTrial {
  /** Absent: it has not ended. */
  outcome?: Outcome;
  errorClass?: ErrorClass;
  /** Settled by somebody in place of its graders. */
  isDecided: boolean;
}

/** A case of a scorecard that may end early. */
export interface EarlyCase {
  caseId: string;
  tags: readonly string[];
  /** In the baseline, if there is one. */
  before?: Known;
  /** Absent: it may still come to anything. */
  known?: Known;
  /** Whether it counts as measured, whatever comes: it passed, or every trial of it is known. */
  isMeasured: boolean;
  /** It may count as one that infrastructure errored: not passed, with a trial that it failed or still may. */
  mayBeInfra: boolean;
  isCancelled: boolean;
}

const isCancelled = ({ outcome }: EarlyTrial): boolean => outcome === 'cancelled';

function knownOf({ outcome, errorClass, isDecided }: EarlyTrial): Known | undefined {
  if (outcome === undefined) return undefined;
  if (isDecided || outcome === 'cancelled') return 'unknown';
  if (outcome === 'errored') return errorClass === 'infra' ? 'unknown' : 'failed';
  return outcome;
}

/** A case passes if `needed` of its trials do. What the others come to does not matter once that is settled. */
export function knownOfTrials(trials: readonly EarlyTrial[], needed: number): Known | undefined {
  const known = trials.map(knownOf);
  const passed = known.filter((trial) => trial === 'passed').length;
  const failed = known.filter((trial) => trial === 'failed').length;
  if (passed >= needed) return 'passed';
  if (trials.length - failed < needed) return 'failed';
  return known.includes(undefined) ? undefined : 'unknown';
}

/** The same of a baseline: of a case that lacks a trial, nobody knows whether it would have passed. */
function knownBefore(trials: readonly EarlyTrial[], needed: number): Known {
  const known = knownOfTrials(trials, needed);
  return known === undefined || (known === 'failed' && trials.some(isCancelled)) ? 'unknown' : known;
}

interface Trials {
  caseId: string;
  tags: readonly string[];
  trials: readonly EarlyTrial[];
  /** Of the same case in the baseline. */
  before?: readonly EarlyTrial[];
}

/** `needed`: how many trials must pass; absent: all. */
export function earlyCase({ caseId, tags, trials, before }: Trials, needed: number = trials.length): EarlyCase {
  const known = knownOfTrials(trials, needed);
  const isEachKnown = trials.map(knownOf).every((trial) => trial === 'passed' || trial === 'failed');
  const mayBeInfra = ({ outcome, errorClass, isDecided }: EarlyTrial): boolean =>
    !isDecided && (outcome === undefined || errorClass === 'infra');
  return {
    caseId,
    tags,
    ...(before && { before: knownBefore(before, needed) }),
    ...(known && { known }),
    isMeasured: known === 'passed' || (known === 'failed' && isEachKnown),
    mayBeInfra: known !== 'passed' && trials.some(mayBeInfra),
    isCancelled: trials.some(isCancelled),
  };
}
