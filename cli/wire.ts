import { z } from 'zod';
import {
  ChangedMember,
  CiBindingView,
  KeyView,
  MemberView,
  NewKey,
  RevokedKey,
  WhoAmI,
  WorkspaceView,
} from '../contracts/access.js';
import { AuditEvent } from '../contracts/audit.js';
import { BaselineView } from '../contracts/baseline.js';
import { StoppedEarly } from '../contracts/early-stop.js';
import { Reroll } from '../contracts/reroll.js';
import { DeletedScorecard, RetentionView } from '../contracts/retention.js';
import { AttemptView, RunView } from '../contracts/run.js';
import { WaitingView } from '../contracts/run-waiting.js';
import { ScorecardView } from '../contracts/scorecard.js';
import { OldestRun, ProgressEvent } from '../contracts/scorecard-events.js';
import { Counts, Rate } from '../contracts/scorecard-numbers.js';
import { Rotation, SecretStored, SecretView } from '../contracts/secret.js';
import { Straggler, Stragglers } from '../contracts/straggler.js';

/*
 * What the command line reads of an answer. Keys it does not know are ignored, so that it also works with a newer
 * platform.
 */

const rate = z.object(Rate.shape);

/** A platform of before says nothing of what its scorecards carry on. */
export const ScorecardReply = z.object({
  ...ScorecardView.shape,
  retryOf: z.string().nullish(),
  regradeOf: z.string().nullish(),
  rerolls: z.array(z.object(Reroll.shape)).default([]),
  stoppedEarly: z.object(StoppedEarly.shape).nullish(),
  counts: z.object(Counts.shape),
  rates: z.object({ firstAttempt: rate, final: rate, infraExcluded: rate }),
});
export type ScorecardReply = z.infer<typeof ScorecardReply>;

export const ProgressReply = z.object({
  ...ProgressEvent.shape,
  counts: z.object(Counts.shape),
  pauseReason: z.string().nullish(),
  stoppedEarly: z.object(StoppedEarly.shape).nullish(),
  oldest: z.object(OldestRun.shape).optional(),
});
export type ProgressReply = z.infer<typeof ProgressReply>;

export const SecretReply = z.object(SecretView.shape);
export const SecretStoredReply = z.object(SecretStored.shape);
export const RotationReply = z.object(Rotation.shape);

export const StragglersReply = z.object({ ...Stragglers.shape, items: z.array(z.object(Straggler.shape)) });
export type StragglersReply = z.infer<typeof StragglersReply>;

export const KeyReply = z.object(KeyView.shape);
export type KeyReply = z.infer<typeof KeyReply>;
export const NewKeyReply = z.object(NewKey.shape);
export const RevokedKeyReply = z.object(RevokedKey.shape);
export const MemberReply = z.object(MemberView.shape);
export const ChangedMemberReply = z.object(ChangedMember.shape);
export type ChangedMemberReply = z.infer<typeof ChangedMemberReply>;
export const CiBindingReply = z.object(CiBindingView.shape);
export type CiBindingReply = z.infer<typeof CiBindingReply>;
export const BaselineReply = z.object(BaselineView.shape);
export const DeletedReply = z.object(DeletedScorecard.shape);
export const RetentionReply = z.object(RetentionView.shape);
export type RetentionReply = z.infer<typeof RetentionReply>;
export const WorkspaceReply = z.object(WorkspaceView.shape);
export const WhoAmIReply = z.object({
  ...WhoAmI.shape,
  workspaces: z.array(WorkspaceReply),
  temporalUi: z.string().nullish(),
});
export type WhoAmIReply = z.infer<typeof WhoAmIReply>;

export const AuditReply = z.object({ ...AuditEvent.shape, role: z.string().nullable() });
export type AuditReply = z.infer<typeof AuditReply>;

const score = z.object({ grader: z.string(), kind: z.string(), passed: z.boolean(), detail: z.string() });

const waiting = z.object({ ...WaitingView.shape, note: WaitingView.shape.note.optional() });

/** `waiting` is of lists alone, and `placement` of a run by itself. */
export const RunReply = z.object({
  ...RunView.shape,
  carriedFrom: z.string().nullish(),
  scores: z.array(score).nullable(),
  waiting: waiting.nullish(),
  placement: z.string().nullish(),
});
export type RunReply = z.infer<typeof RunReply>;

export const AttemptReply = z.object({
  ...AttemptView.shape,
  placedAs: z.string().nullish(),
  waiting: z.string().nullish(),
});
export type AttemptReply = z.infer<typeof AttemptReply>;

const warnings = z.array(z.string()).default([]);
const runtime = z.string().nullish();

export const Submitted = z.object({ id: z.string(), status: z.string(), cases: z.number(), runtime, warnings });

const follower = { id: z.string(), status: z.string(), cases: z.number(), warnings };

export const Retried = z.object({ ...follower, carried: z.number(), retried: z.number() });

export const Regraded = z.object(follower);

export const SubmittedRun = z.object({ id: z.string(), state: z.string(), runtime, warnings });

/** One page of a list; `next` is the cursor of the following one. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullish() });

/** `application/problem+json`. */
export const Problem = z.looseObject({
  code: z.string().optional(),
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof Problem>;
