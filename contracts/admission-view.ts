import { z } from 'zod';
import { DialMode, WorkClass } from './admission.js';
import { Envelope } from './runtime.js';
import { untrusted } from './untrusted.js';
import { Waiting } from './waiting.js';

/** What a ticket takes, null where nothing is declared. */
export const DemandView = z.strictObject({
  memoryMb: z.int().nullable(),
  cpuMillicores: z.int().nullable(),
  sessionPool: z.string().nullable(),
});
export type DemandView = z.infer<typeof DemandView>;

/** What is in use of a runtime, whether its spec caps it or not. */
export const InUse = z.strictObject({ slots: z.int(), memoryMb: z.int(), cpuMillicores: z.int() });
export type InUse = z.infer<typeof InUse>;

export const DialView = z.strictObject({
  mode: DialMode,
  limits: Envelope.partial(),
  /** When the mode ends by itself; null: when somebody says so. */
  until: z.string().nullable(),
  /** When the limits do. */
  limitsUntil: z.string().nullable(),
});
export type DialView = z.infer<typeof DialView>;

export const LeaseView = z.strictObject({
  run: z.string(),
  workspace: z.string(),
  seq: z.int(),
  demand: DemandView,
  grantedAt: z.string(),
});
export type LeaseView = z.infer<typeof LeaseView>;

/** The one ticket for which what comes free is kept. */
export const ReservationView = z.strictObject({
  run: z.string(),
  workspace: z.string(),
  demand: DemandView,
  askedAt: z.string(),
});
export type ReservationView = z.infer<typeof ReservationView>;

/** A live session pool that cases wait in or hold a session of, and what its endpoint said last. */
export const SessionPoolView = z.strictObject({
  name: z.string(),
  /**
   * `unread`: its cases wait until it was asked once; `reading`: it tells how many may start; `failed`: it told nothing,
   * and the limits of the runtime alone hold.
   */
  state: z.enum(['unread', 'reading', 'failed']),
  /** Null without a reading. */
  total: z.int().nullable(),
  /** Null without a reading, and where the endpoint does not say. */
  used: z.int().nullable(),
  readAt: z.string().nullable(),
  /** Why there is no reading. */
  failure: untrusted('cluster').nullable(),
  /** Sessions that cases of this runtime hold. */
  ours: z.int(),
  waiting: z.int(),
});
export type SessionPoolView = z.infer<typeof SessionPoolView>;

export const CircuitView = z.strictObject({
  state: z.enum(['closed', 'open', 'probing']),
  /** Failures of the runtime itself, one after another. */
  failures: z.int(),
  /** When one more case may try; null unless open. */
  until: z.string().nullable(),
});
export type CircuitView = z.infer<typeof CircuitView>;

/** What was decided of one ticket, and why. */
export const DecisionView = z.strictObject({
  at: z.string(),
  run: z.string(),
  decision: z.string(),
  reason: z.string(),
});
export type DecisionView = z.infer<typeof DecisionView>;

/** What the ledger of a runtime knows. Lists are cut; `more…` says how many entries are not shown. */
export const PoolView = z.strictObject({
  /** Of the runtime's latest version. */
  envelope: Envelope,
  /** Limits in force: lower than the envelope where somebody set the dial. */
  limits: Envelope,
  dial: DialView.nullable(),
  inUse: InUse,
  /** Holders of slots, the oldest first. */
  leases: z.array(LeaseView),
  moreLeases: z.int(),
  /** Tickets by class; `aged`: batch tickets that waited so long that they get their turn among interactive ones. */
  waiting: z.strictObject({ interactive: z.int(), batch: z.int(), aged: z.int() }),
  reservation: ReservationView.nullable(),
  /** Workspaces at their quota: granted nothing until they have room. */
  parkedWorkspaces: z.array(z.string()),
  pausedScorecards: z.array(z.string()),
  sessionPools: z.array(SessionPoolView),
  circuit: CircuitView.nullable(),
  /** The latest last. */
  decisions: z.array(DecisionView),
});
export type PoolView = z.infer<typeof PoolView>;

export const QueuedTicket = z.strictObject({
  /** From 1, in the order in which tickets are considered. */
  position: z.int(),
  run: z.string(),
  workspace: z.string(),
  class: WorkClass,
  demand: DemandView,
  askedAt: z.string(),
  promotedAt: z.string().nullable(),
  waiting: Waiting,
});
export type QueuedTicket = z.infer<typeof QueuedTicket>;

export const QueuePage = z.strictObject({
  tickets: z.array(QueuedTicket),
  /** Of all tickets that were asked for, on all pages. */
  total: z.int(),
  /** What to go on after; null: this was the last page. */
  next: z.string().nullable(),
});
export type QueuePage = z.infer<typeof QueuePage>;

export interface QueueRequest {
  /** `next` of the page before. */
  after?: string;
  limit: number;
  /** Tickets of this workspace alone; their positions are those among all. */
  workspace?: string;
}
