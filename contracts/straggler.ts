import { z } from 'zod';
import { untrusted } from './untrusted.js';

/**
 * What an unfinished run is at: `waiting` for a slot, `backing-off` before another attempt, `starting` (the cluster has
 * not started its job), `running`, or `finishing` (its end is known, and not yet its outcome).
 */
export const Phase = z.enum(['waiting', 'backing-off', 'starting', 'running', 'finishing']);
export type Phase = z.infer<typeof Phase>;

export const Straggler = z.strictObject({
  /** Number in the scorecard. */
  run: z.int(),
  id: z.string(),
  caseId: untrusted('user'),
  trial: z.int(),
  runtime: z.string(),
  phase: Phase,
  /** The attempt that is open, else the last; 0 before the first. */
  attempt: z.int(),
  /** When this attempt, or this wait, began. */
  since: z.string(),
  ageMs: z.int(),
  timeoutSec: z.int(),
  /** Until `timeoutSec` can fire at the earliest, since setup does not count. Null for what does not run. */
  leftMs: z.int().nullable(),
  /** How many times the median of the finished ones it has taken. Null for what does not run, or without a median. */
  timesMedian: z.number().nullable(),
});
export type Straggler = z.infer<typeof Straggler>;

export const Stragglers = z.strictObject({
  /** How long the command of the last 1,000 finished runs took, ms; null before the first. */
  medianMs: z.int().nullable(),
  /** What runs and what waits, those that run first, each the oldest first. */
  items: z.array(Straggler),
  /** Runs that do not even wait for a slot yet, beside the items. */
  queued: z.int(),
});
export type Stragglers = z.infer<typeof Stragglers>;
