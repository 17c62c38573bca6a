import type { AdmissionLimits, Demand, Lease, Ticket, WorkClass } from '../../contracts/admission.js';
import type { Samples } from './drawn-durations.js';
import type { Use } from './room.js';

/** `group`: whose durations it is likely to have. */
export type Grouped<Of extends Lease | Ticket> = Of & { group: string };

/** Cases of a scorecard that have not asked for a slot yet. */
export interface Backlog {
  scorecard: string;
  workspace: string;
  class: WorkClass;
  count: number;
  /** What they take, in this order over and over. */
  demands: readonly Demand[];
  group: string;
  /** At most so many in flight at once. */
  concurrency?: number;
}

/** A pool at one instant: what holds slots, what waits, what will ask for slots, and what is known of it all. */
export interface Load {
  /** Epoch ms. */
  now: number;
  limits: AdmissionLimits;
  leases: readonly Grouped<Lease>[];
  /** In order of arrival. */
  tickets: readonly Grouped<Ticket>[];
  backlogs: readonly Backlog[];
  samples: Samples;
}

/** What became of the cases of one scorecard, or of the single runs of one workspace. Times are ms from now. */
export interface Fate {
  workspace: string;
  waitsMs: number[];
  /** When the last of them ended; infinite: never, as far as is known. */
  endMs: number;
}

/** One possible future of a pool. */
export interface Course {
  /** When the last case ended; infinite: never, as far as is known. */
  endMs: number;
  /** See `fateName`. */
  fates: ReadonlyMap<string, Fate>;
  /** When each ticket of the beginning started. Those that never did are missing. */
  starts: ReadonlyMap<string, number>;
  peak: Use;
  /** Tickets above the whole envelope. */
  refused: number;
}

/** What the cases of one scorecard, or the single runs of one workspace, are told under. */
export const fateName = (workspace: string, scorecard: string): string => `${workspace} ${scorecard}`;
