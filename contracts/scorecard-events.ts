import { z } from 'zod';
import { ErrorClass } from './attempt.js';
import { StoppedEarly } from './early-stop.js';
import { Outcome } from './run.js';
import { ScorecardStatus } from './scorecard.js';
import { Counts, Rates } from './scorecard-numbers.js';

/** The case that has been running for longest. */
export const OldestRun = z.strictObject({ run: z.int(), caseId: z.string(), trial: z.int(), ageMs: z.int() });
export type OldestRun = z.infer<typeof OldestRun>;

/** `event: progress`: runs by state, which add up. `oldest` is there once few runs are left. */
export const ProgressEvent = z.strictObject({
  status: ScorecardStatus,
  counts: Counts,
  /** Why it is paused. */
  pauseReason: z.string().optional(),
  /** It ends now, with a verdict that the rest would not change. */
  stoppedEarly: StoppedEarly.optional(),
  oldest: OldestRun.optional(),
});
export type ProgressEvent = z.infer<typeof ProgressEvent>;

/** `event: run`: a run that is settled. `run` is its number in the scorecard. */
export const RunEvent = z.strictObject({
  run: z.int(),
  id: z.string(),
  caseId: z.string(),
  trial: z.int(),
  outcome: Outcome,
  errorClass: ErrorClass.nullable(),
  errorCode: z.string().nullable(),
  reason: z.string().nullable(),
});
export type RunEvent = z.infer<typeof RunEvent>;

/** `event: end`: the scorecard is finished. */
export const FinishEvent = z.strictObject({ status: ScorecardStatus, counts: Counts, rates: Rates });
export type FinishEvent = z.infer<typeof FinishEvent>;
