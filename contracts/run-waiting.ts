import { z } from 'zod';
import { WorkClass } from './admission.js';
import { DemandView } from './admission-view.js';
import { RunState, RunView } from './run.js';
import { untrusted } from './untrusted.js';
import { Waiting } from './waiting.js';

const eta = z.number().nullable();

/** Why a run waits, and when it is likely to start, seconds from now; null where nobody can say. */
export const WaitingView = z.strictObject({
  ...Waiting.shape,
  etaP50: eta.describe('Seconds until it starts, by even odds'),
  etaP90: eta.describe('Seconds until it has started in nine of ten cases'),
  note: untrusted('cluster')
    .nullable()
    .describe(
      'Of what is paused: what was said to everybody whose work waits for it; of a placement: the words of the cluster',
    ),
});
export type WaitingView = z.infer<typeof WaitingView>;

const { reason, scope, ahead, ...rest } = WaitingView.shape;

/** The same of any run: one that runs or is settled waits for nothing, and has no reason. */
export const RunWaiting = z.strictObject({
  run: z.string(),
  state: RunState,
  reason: reason.nullable(),
  scope: scope.nullable(),
  ...rest,
  ahead: ahead.nullable(),
  until: z.iso.datetime().nullable().describe('When what is paused is resumed by itself; null: when somebody says so'),
});
export type RunWaiting = z.infer<typeof RunWaiting>;

/** A run by itself. */
export const ShownRun = RunView.extend({
  placement: untrusted('cluster')
    .nullable()
    .describe('Of a run that holds its slot and has not started: why, by its cluster'),
});
export type ShownRun = z.infer<typeof ShownRun>;

/** A run in a list. `waiting` is null for what does not wait, and where its runtime could not be asked within a second. */
export const ListedRun = RunView.extend({ waiting: WaitingView.nullable() });
export type ListedRun = z.infer<typeof ListedRun>;

/** A run that has asked for a slot. */
export const QueueEntry = z.strictObject({
  position: z.int().describe('Among all that wait for the runtime, from 1, in the order in which they are considered'),
  run: z.string(),
  caseId: untrusted('user'),
  scorecard: z.string().nullable(),
  workspace: z.string(),
  runtime: z.string(),
  class: WorkClass,
  demand: DemandView,
  askedAt: z.string(),
  promotedAt: z.string().nullable(),
  waiting: WaitingView.omit({ note: true }),
});
export type QueueEntry = z.infer<typeof QueueEntry>;

export const Promoted = z.strictObject({ run: z.string(), state: RunState, promotedAt: z.iso.datetime() });
export type Promoted = z.infer<typeof Promoted>;
