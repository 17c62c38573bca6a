import type { Lease, Ticket } from '../../contracts/admission.js';
import type { DecisionRecord } from '../../contracts/decisions.js';
import type { CircuitState } from './circuit.js';
import type { Reservation } from './reservation.js';
import type { KnownSessions } from './session-pools.js';
import type { QuotaCap } from './standing.js';

/** What a ledger is made of. */
export interface LedgerState {
  epoch: number;
  nextSeq: number;
  leases: Iterable<Lease>;
  /** In order of arrival. */
  tickets: Iterable<Ticket>;
  /** Grants since the last one to aged batch work. */
  sinceAged?: number;
  /** How often tickets were passed, by holder. */
  passes?: Iterable<readonly [string, number]>;
  reservation?: Reservation;
  quotaCaps?: readonly QuotaCap[];
  /** The number of the last lease of workspaces and scorecards, the earliest first. */
  lastGrants?: Iterable<readonly [string, number]>;
  /** What session pools said last, by name. */
  sessions?: Readonly<Record<string, KnownSessions>>;
  circuit?: CircuitState;
  decisions?: readonly DecisionRecord[];
}
