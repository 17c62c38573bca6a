import { z } from 'zod';
import { CircuitView, DecisionView, ReservationView, SessionPoolView } from '../contracts/admission-view.js';
import { LimitsView, RuntimeDial } from '../contracts/dial.js';
import { Promoted, QueueEntry, RunWaiting } from '../contracts/run-waiting.js';
import { CircuitReset, HolderView, RuntimeAdmission } from '../contracts/runtime-admission.js';
import { Waiting } from '../contracts/waiting.js';
import { WorkspaceLimits } from '../contracts/workspace-limits.js';

/* What the command line reads of answers about who may start; keys it does not know are ignored. */

const demand = z.object({ memoryMb: z.number().nullable(), cpuMillicores: z.number().nullable() });
const limits = z.object(LimitsView.shape);

export const DialReply = z.object({
  ...RuntimeDial.shape,
  limits: z.object(RuntimeDial.shape.limits.shape),
  envelope: limits,
  inForce: limits,
});
export type DialReply = z.infer<typeof DialReply>;

export const RuntimeAdmissionReply = z.object({
  ...RuntimeAdmission.shape,
  dial: DialReply,
  inUse: z.object(RuntimeAdmission.shape.inUse.shape),
  holders: z.array(z.object({ ...HolderView.shape, demand })),
  waiting: z.object(RuntimeAdmission.shape.waiting.shape),
  reservation: z.object({ ...ReservationView.shape, demand }).nullable(),
  sessionPools: z.array(z.object(SessionPoolView.shape)),
  circuit: z.object(CircuitView.shape).nullable(),
  decisions: z.array(z.object(DecisionView.shape)),
});
export type RuntimeAdmissionReply = z.infer<typeof RuntimeAdmissionReply>;

export const CircuitResetReply = z.object(CircuitReset.shape);

export const QueueReply = z.object({ ...QueueEntry.shape, demand, waiting: z.object(Waiting.shape) });
export type QueueReply = z.infer<typeof QueueReply>;
export const WhyReply = z.object(RunWaiting.shape);
export type WhyReply = z.infer<typeof WhyReply>;
export const PromotedReply = z.object(Promoted.shape);
export const WorkspaceLimitsReply = z.object(WorkspaceLimits.shape);
export type WorkspaceLimitsReply = z.infer<typeof WorkspaceLimitsReply>;
