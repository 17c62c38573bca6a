import type { AttemptEnd, AttemptFailure, ErrorClass, FenceRefusal, RunErrorCode } from '../contracts/attempt.js';
import type { Outcome } from '../contracts/run.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { Verdict } from '../policy/results.js';
import type { RunGuards } from '../store/run.store.js';

/** One attempt under the grant it was opened with. */
export interface AttemptInput {
  runId: string;
  /** From 1. */
  attempt: number;
  poolId: string;
  kind: RuntimeKind;
  holder: string;
  seq: number;
  epoch: number;
}

export interface FinishInput extends Omit<AttemptInput, 'epoch'> {
  end: AttemptEnd;
}

export interface CollectInput {
  runId: string;
  attempt: number;
}

export interface ReclaimInput {
  runId: string;
  /** The lease to be freed. Absent: whatever the run still holds. */
  seq?: number;
}

export type DispatchResult = AttemptEnd | { kind: 'refused'; refusal: FenceRefusal };

export const failed = (code: AttemptFailure['code'], message: string): AttemptEnd => ({
  kind: 'failed',
  failure: { code, message },
});

/** `settled`: the run has its outcome, of this attempt or of what came before. `retry`: the slot is given back. */
export type FinishResult =
  | { kind: 'settled'; outcome: Outcome; errorClass?: ErrorClass }
  | { kind: 'retry'; code: RunErrorCode; delayMs: number };

/** By the outcome that it had before, if it had one, else by this verdict. */
export function settledAs(
  earlier: Pick<RunGuards, 'outcome' | 'errorClass'> | undefined,
  verdict: Verdict,
): FinishResult {
  if (earlier?.outcome) return { kind: 'settled', outcome: earlier.outcome, errorClass: earlier.errorClass };
  const { outcome } = verdict;
  return { kind: 'settled', outcome, ...(outcome === 'errored' && { errorClass: verdict.errorClass }) };
}

/** What became of a local try. An end that is handed back is yet to be finished. */
export type ShortResult =
  | DispatchResult
  /** It takes longer than a local try may; `dispatch` goes on with it. */
  | { kind: 'running' }
  | { kind: 'finished'; result: FinishResult };

/** An attempt whose `finish` gave up, and why. */
export interface Abandoned {
  runId: string;
  attempt: number;
  end: AttemptEnd;
  failure: AttemptFailure;
}
