import { z } from 'zod';
import { WorkClass } from './admission.js';
import { EvalCase } from './case.js';
import { EarlyStop, StoppedEarly } from './early-stop.js';
import { Params } from './harness.js';
import { CaseId, SpecRef } from './ids.js';
import { Reroll } from './reroll.js';
import { Outcome } from './run.js';
import { Counts, Rates } from './scorecard-numbers.js';
import { untrusted } from './untrusted.js';

/** Free text about where a scorecard comes from: `sha`, `branch`, `pr` and whatever else helps to find it. */
const Metadata = untrusted(
  'user',
  z
    .record(z.string().min(1).max(63), z.string().max(1_024))
    .refine((metadata) => Object.keys(metadata).length <= 50, 'has more than 50 entries'),
);

export const CaseFilter = z.strictObject({
  ids: z.array(CaseId).min(1).max(10_000).optional(),
  /** Cases that carry all of these. */
  tags: z.array(z.string().min(1).max(63)).min(1).max(20).optional(),
  limit: z.int().min(1).max(100_000).optional(),
});
export type CaseFilter = z.infer<typeof CaseFilter>;

/** In place of a runtime: whichever satisfies every case and has most room. */
export const AUTO_RUNTIME = 'auto';

const shared = {
  /** Target of every case, or `auto`; without it each case needs a `placement.target`. */
  runtime: SpecRef.optional(),
  params: Params.optional(),
  infraRetries: z.int().min(0).max(10).default(2),
  metadata: Metadata.default({}),
};

export const ScorecardRequest = z.strictObject({
  dataset: SpecRef,
  harness: SpecRef,
  ...shared,
  cases: CaseFilter.optional(),
  trials: z.int().min(1).max(1_000).default(1),
  class: WorkClass.default('batch'),
  /** Ends it as soon as a gate's verdict is certain, at a stated rate of error. */
  earlyStop: EarlyStop.optional(),
  /** At most so many of its cases at once, whatever the runtimes would admit. */
  concurrency: z.int().min(1).max(100_000).optional(),
  /** So long after it was submitted, every run that has no outcome is ended. At most 30 days. */
  deadlineSec: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .optional(),
});
export type ScorecardRequest = z.infer<typeof ScorecardRequest>;

/** One run: a case of its own, or one of a registered dataset. */
export const RunRequest = z
  .strictObject({
    case: EvalCase.optional(),
    dataset: SpecRef.optional(),
    caseId: CaseId.optional(),
    harness: SpecRef,
    ...shared,
    class: WorkClass.default('interactive'),
  })
  .superRefine(({ case: own, dataset, caseId }, ctx) => {
    const isRegistered = dataset !== undefined && caseId !== undefined;
    const isOwn = dataset === undefined && caseId === undefined && own !== undefined;
    if (isOwn || (isRegistered && own === undefined)) return;
    ctx.addIssue({ code: 'custom', path: [], message: 'give either `case`, or `dataset` with `caseId`' });
  });
export type RunRequest = z.infer<typeof RunRequest>;

/** An operator's word in place of the graders'. */
export const Settlement = z.strictObject({
  outcome: Outcome,
  reason: z.string().trim().min(1, 'says nothing').max(1_000),
  /** Which trial of the case, where it has several. */
  trial: z.int().min(1).optional(),
});
export type Settlement = z.infer<typeof Settlement>;

export const ScorecardStatus = z.enum(['queued', 'running', 'paused', 'cancelling', 'completed', 'cancelled']);
export type ScorecardStatus = z.infer<typeof ScorecardStatus>;

export const ScorecardView = z.strictObject({
  id: z.string(),
  status: ScorecardStatus,
  dataset: z.string(),
  harness: z.string(),
  runtime: z.string().nullable(),
  class: WorkClass,
  trials: z.int(),
  metadata: Metadata,
  counts: Counts,
  rates: Rates,
  /** Since when no case of it starts, and why; null: it is not paused. */
  pausedAt: z.string().nullable(),
  pauseReason: untrusted('user').nullable(),
  createdAt: z.string(),
  /** When every run that has no outcome is ended. */
  deadlineAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  /** The scorecard whose finished results it carries on. */
  retryOf: z.string().nullable(),
  /** The scorecard whose stored answers it grades anew. */
  regradeOf: z.string().nullable(),
  /** The re-roll ledger, oldest first; empty: no result of it was ever run again. */
  rerolls: z.array(Reroll),
  /** Why it ended before all its cases did; null: it did not. */
  stoppedEarly: StoppedEarly.nullable(),
});
export type ScorecardView = z.infer<typeof ScorecardView>;
