import type { ErrorClass } from '../contracts/attempt.js';
import type { Outcome, Score } from '../contracts/run.js';

/** What a harness said of one run in its usage file, as far as it is numbers. */
export interface Usage {
  /** Input and output together. */
  tokens?: number;
  costUsd?: number;
  steps?: number;
}

/** How one trial of a case ended, with all it takes to judge and to compare it. */
export interface CaseResult {
  runId: string;
  caseId: string;
  /** From 1. */
  trial: number;
  tags: readonly string[];
  /** Absent: it has not ended. */
  outcome?: Outcome;
  errorClass?: ErrorClass;
  errorCode?: string;
  reason?: string;
  /** Settled by somebody in place of its graders. */
  isDecided: boolean;
  scores: readonly Score[];
  usage: Usage;
  /** How long the command ran. */
  durationMs?: number;
  /** Of the case as registered, without its graders. */
  contentHash: string;
  /** Of the graders that judged it. */
  gradersHash: string;
}

/** Whether its graders said something of it: it passed or failed, and nobody decided that in their place. */
export const hasVerdict = ({ outcome, isDecided }: CaseResult): boolean =>
  !isDecided && (outcome === 'passed' || outcome === 'failed');

/**
 * Whether it passed, where that is known. Failed, or errored by what was under test (agent, harness, config): it did not.
 * Errored by infrastructure, cancelled, not ended or decided by hand: undefined, since its graders could still say either.
 */
export function passedOf({ outcome, errorClass, isDecided }: CaseResult): boolean | undefined {
  if (isDecided || outcome === undefined || outcome === 'cancelled') return undefined;
  if (outcome === 'errored' && errorClass === 'infra') return undefined;
  return outcome === 'passed';
}

/** `caseId#trial`. */
export const caseKey = ({ caseId, trial }: Pick<CaseResult, 'caseId' | 'trial'>): string => `${caseId}#${trial}`;
