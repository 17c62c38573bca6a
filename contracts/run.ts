import { z } from 'zod';
import { ErrorClass } from './attempt.js';
import { untrusted } from './untrusted.js';

export const Outcome = z.enum(['passed', 'failed', 'errored', 'cancelled']);
export type Outcome = z.infer<typeof Outcome>;

export const RunState = z.enum(['queued', 'waiting', 'running', 'settled']);
export type RunState = z.infer<typeof RunState>;

/** One measurement: what a grader found. */
export const Score = z.strictObject({
  grader: untrusted('user'),
  kind: z.string(),
  passed: z.boolean(),
  detail: untrusted('job'),
});
export type Score = z.infer<typeof Score>;

export const RunView = z.strictObject({
  id: z.string(),
  scorecard: z.string().nullable(),
  /** The run that has its attempts, logs and answer; null: it has them itself. */
  carriedFrom: z.string().nullable(),
  caseId: untrusted('user'),
  trial: z.int(),
  harness: z.string(),
  runtime: z.string(),
  state: RunState,
  outcome: Outcome.nullable(),
  errorClass: ErrorClass.nullable(),
  errorCode: z.string().nullable(),
  /** Why it did not pass, in a sentence. */
  reason: untrusted('job').nullable(),
  /** Who settled it in place of its graders. */
  decidedBy: z.string().nullable(),
  attempts: z.int(),
  scores: z.array(Score).nullable(),
  /** How long the command ran, ms. */
  durationMs: z.int().nullable(),
  createdAt: z.string(),
  settledAt: z.string().nullable(),
});
export type RunView = z.infer<typeof RunView>;

export const AttemptView = z.strictObject({
  attempt: z.int(),
  allocation: z.string(),
  state: z.enum(['open', 'cleanup_pending', 'closed']),
  openedAt: z.string(),
  submittedAt: z.string().nullable(),
  closedAt: z.string().nullable(),
  /** What the cluster calls that which runs it. */
  placedAs: untrusted('cluster').nullable(),
  /** Why the cluster does not start it. */
  waiting: untrusted('cluster').nullable(),
  end: untrusted('cluster').nullable(),
  exitCode: z.int().nullable(),
  setupMs: z.int().nullable(),
  commandMs: z.int().nullable(),
  answer: untrusted('job').nullable(),
  answerCut: z.boolean(),
  /** What the `command` graders said, in their order: the first 4 KB of each. */
  graders: z.array(z.strictObject({ status: z.int(), timedOut: z.boolean(), ms: z.int(), output: untrusted('job') })),
  usage: untrusted('job', z.unknown()),
  provenance: untrusted('cluster', z.record(z.string(), z.unknown())),
});
export type AttemptView = z.infer<typeof AttemptView>;
