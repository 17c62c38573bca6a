import { z } from 'zod';
import { CircuitView, DecisionView, DemandView, InUse, PoolView, ReservationView } from './admission-view.js';
import { RuntimeDial } from './dial.js';
import { Phase } from './straggler.js';

/** Who holds a slot, and for how long, against how long its case may run. */
export const HolderView = z.strictObject({
  run: z.string(),
  caseId: z.string().nullable(),
  scorecard: z.string().nullable(),
  workspace: z.string(),
  seq: z.int(),
  demand: DemandView,
  grantedAt: z.string(),
  ageMs: z.int().describe('Since the slot was granted'),
  phase: Phase.nullable().describe('null: it has no attempt yet, or no more'),
  attempt: z.int().nullable(),
  timeoutSec: z.int().nullable(),
  leftMs: z.int().nullable().describe('Until `timeoutSec` can fire at the earliest; null for what does not run'),
});
export type HolderView = z.infer<typeof HolderView>;

const { waiting, parkedWorkspaces, pausedScorecards, sessionPools } = PoolView.shape;

/** Whose circuit is being closed. */
export const CircuitReset = z.strictObject({ runtime: z.string(), owner: z.string() });
export type CircuitReset = z.infer<typeof CircuitReset>;

/** A runtime as its ledger sees it. Of a shared one, runs of other workspaces are counted and not shown. */
export const RuntimeAdmission = z.strictObject({
  dial: RuntimeDial,
  inUse: InUse,
  holders: z.array(HolderView).describe('The oldest first, at most 200'),
  moreHolders: z.int().describe('Beyond those, and of other workspaces'),
  waiting,
  reservation: ReservationView.nullable().describe('The run for which what comes free is kept; null: none of yours'),
  parkedWorkspaces,
  pausedScorecards,
  sessionPools,
  circuit: CircuitView.nullable(),
  decisions: z.array(DecisionView).describe('The latest last'),
});
export type RuntimeAdmission = z.infer<typeof RuntimeAdmission>;
