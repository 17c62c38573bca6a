import { z } from 'zod';

/** Interactive tickets go before batch ones. */
export const WorkClass = z.enum(['interactive', 'batch']);
export type WorkClass = z.infer<typeof WorkClass>;

/** What a case declares: thousandths of a core and MB. Absent: nothing declared, counted as a slot only. */
export interface Demand {
  memoryMb?: number;
  cpuMillicores?: number;
}

/** A request waiting for a slot. */
export interface Ticket {
  /** The id of the case workflow that will hold the slot. Requests are idempotent by it. */
  holder: string;
  /** The id of the workflow that is told of the grant: a window, or the holder itself. */
  to: string;
  class: WorkClass;
  demand: Demand;
  /** Epoch ms. */
  askedAt: number;
}

/** An admitted ticket. `seq` names one lease for ever, `epoch` the incarnation of the ledger that granted it. */
export interface Grant {
  holder: string;
  seq: number;
  epoch: number;
}

/** The ledger's record of a grant, until it is released or its holder is proven gone; it never expires by time. */
export interface Lease {
  holder: string;
  to: string;
  seq: number;
  demand: Demand;
  /** Epoch ms. */
  grantedAt: number;
}

/** Gives the lease of that number back; without one, withdraws the ticket and leaves a lease alone. */
export interface Release {
  holder: string;
  seq?: number;
  /** The holder is gone or at its end, and nothing of it is left: whatever it has, ends. */
  isGone?: true;
}

/** One message to an admission workflow: releases first, then requests. */
export interface AdmissionMessage {
  acquire: Ticket[];
  release: Release[];
}
