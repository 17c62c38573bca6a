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
  passedBefore: boolean;
  /** Absent: it may still come to anything. */
  known?: Known;
  /** Its graders judged each of its trials. */
  isCovered: boolean;
  /** Infrastructure failed a trial of it, or still may. */
  mayBeInfra: boolean;
  isCancelled: boolean;
}

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

/** `needed`: how many trials must pass; absent: all. */
export function earlyCase(
  { caseId, tags, passedBefore }: Pick<EarlyCase, 'caseId' | 'tags' | 'passedBefore'>,
  trials: readonly EarlyTrial[],
  needed: number = trials.length,
): EarlyCase {
  const known = knownOfTrials(trials, needed);
  return {
    caseId,
    tags,
    passedBefore,
    ...(known && { known }),
    isCovered: trials.every(({ outcome, isDecided }) => !isDecided && (outcome === 'passed' || outcome === 'failed')),
    mayBeInfra: trials.some(({ outcome, errorClass }) => outcome === undefined || errorClass === 'infra'),
    isCancelled: trials.some(({ outcome }) => outcome === 'cancelled'),
  };
}
