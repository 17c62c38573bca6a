import { z } from 'zod';
import type { RunErrorCode } from './attempt.js';
import type { Envelope } from './runtime.js';

/** Interactive tickets go before batch ones. */
export const WorkClass = z.enum(['interactive', 'batch']);
export type WorkClass = z.infer<typeof WorkClass>;

/** What a case declares: thousandths of a core and MB. Absent: nothing declared, counted as a slot only. */
export interface Demand {
  memoryMb?: number;
  cpuMillicores?: number;
  /** Takes one session of this live pool, named `<workspace>/<harness id>`. */
  sessionPool?: string;
}

/** A request waiting for a slot. */
export interface Ticket {
  /** The id of the case workflow that will hold the slot. Requests are idempotent by it. */
  holder: string;
  /** The id of the workflow that is told of the grant: a window, or the holder itself. */
  to: string;
  /** Whose case it is. Empty in requests of workers that did not say so yet. */
  workspace: string;
  class: WorkClass;
  demand: Demand;
  /** Epoch ms. */
  askedAt: number;
  /** Somebody wants it before everything else of its workspace, epoch ms. */
  promotedAt?: number;
  /** How long nine in ten cases of its harness and dataset held their slot, ms; absent: not known. */
  expectedMs?: number;
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
  workspace: string;
  seq: number;
  demand: Demand;
  /** Epoch ms. */
  grantedAt: number;
  /** See `Ticket`. */
  expectedMs?: number;
}

/** What a live session pool says of itself: its sessions and, where it says so, those taken; or why it says nothing. */
export type SessionAnswer = { total: number; used?: number } | { failure: string };

/** A session pool that was asked. */
export interface SessionRead {
  pool: string;
  /** Epoch ms. */
  at: number;
  /** Absent: nobody who waits says where to ask. */
  answer?: SessionAnswer;
}

/** How an attempt under a lease ended, as far as it says something of its runtime: `ran`, or the code of what broke. */
export type LeaseEnd = 'ran' | RunErrorCode;

/** Gives the lease of that number back; without one, withdraws the ticket and leaves a lease alone. */
export interface Release {
  holder: string;
  seq?: number;
  /** The holder is gone or at its end, and nothing of it is left: whatever it has, ends. */
  isGone?: true;
  /** The workspace has as many open runs as its quota allows: grant it nothing until it is said to have room. */
  isOverQuota?: true;
  /** Absent: no attempt was made under it. */
  end?: LeaseEnd;
}

/** A ticket that is to go before everything else of its workspace. */
export interface Promotion {
  holder: string;
  /** Epoch ms. */
  at: number;
}

/** One message to an admission workflow: releases first, then requests, then the rest. */
export interface AdmissionMessage {
  acquire: Ticket[];
  release: Release[];
  promote?: Promotion[];
  /** Workspaces that may have room under their quota again. */
  unpark?: string[];
  /** What live attempts hold, as the database has it; taken up where the holder has no lease. */
  adopt?: Lease[];
  /** What session pools said. */
  sessions?: SessionRead[];
  /** Somebody vouches for the runtime: its circuit closes. */
  resetCircuit?: true;
  /** A lease that is to show whether the runtime works was silent for long: whether its job runs. */
  probe?: { holder: string; isRunning: boolean };
}

/** `open`: grants; `paused`: grants nothing; `draining`: grants nothing, and new work for it is refused. */
export const DialMode = z.enum(['open', 'paused', 'draining']);
export type DialMode = z.infer<typeof DialMode>;

/** What somebody set for a runtime above its spec, for a while or until it is taken back. */
export interface Dial {
  mode: DialMode;
  /** Lower limits, per axis. */
  limits: Partial<Envelope>;
  /** When it is open again, epoch ms; absent: when somebody says so. */
  until?: number;
  /** When its limits are gone, likewise. */
  limitsUntil?: number;
}

/** What the operator set for a workspace. */
export interface WorkspaceShare {
  /** Its share under contention against others; 1 unless given. */
  weight?: number;
  /** Open runs over all runtimes at once; absent: no quota. */
  maxRunning?: number;
}

/** Everything a decision is made by, besides the ledger. */
export interface AdmissionLimits {
  /** Of the runtime's latest version. A demand above it can never be met. */
  envelope: Envelope;
  dial?: Dial;
  /** Those that differ from the defaults, by workspace. */
  workspaces: Record<string, WorkspaceShare>;
  /** Scorecards that wait until somebody resumes them. */
  pausedScorecards: string[];
}
