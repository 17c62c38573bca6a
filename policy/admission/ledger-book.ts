import type { Lease, Ticket } from '../../contracts/admission.js';
import type { DecisionRecord } from '../../contracts/decisions.js';
import { AgedTurn } from './ageing.js';
import { Circuit } from './circuit.js';
import { DecisionLog } from './decision-log.js';
import { DemandCheck } from './demand-check.js';
import type { LedgerState } from './ledger-state.js';
import { Order } from './order.js';
import { type Reservation, Reservations } from './reservation.js';
import type { Use } from './room.js';
import { SessionPools } from './session-pools.js';
import { InUse, LastGrants } from './shares.js';
import { Standing } from './standing.js';

/** What a ledger keeps, and what can be read of it. */
export class LedgerBook {
  readonly epoch: number;
  /** Whether the runtime works. */
  readonly circuit: Circuit;
  protected nextSeq: number;
  protected readonly held = new Map<string, Lease>();
  protected readonly inUseNow: InUse;
  /** The live session pools that tickets and leases name. */
  readonly sessions: SessionPools;
  protected readonly standing: Standing;
  protected readonly order: Order;
  protected readonly aged: AgedTurn;
  protected readonly reservations: Reservations;
  protected readonly log: DecisionLog;
  protected readonly demands: DemandCheck;

  constructor({ epoch, nextSeq, leases, tickets, ...state }: LedgerState) {
    this.epoch = epoch;
    this.nextSeq = nextSeq;
    this.sessions = new SessionPools(state.sessions);
    this.inUseNow = new InUse(new LastGrants(state.lastGrants));
    this.standing = new Standing(this.inUseNow, this.sessions, state.quotaCaps ?? []);
    this.order = new Order(this.standing, this.sessions);
    this.demands = new DemandCheck(this.order);
    this.aged = new AgedTurn(state.sinceAged);
    this.reservations = new Reservations(state.passes, state.reservation);
    this.log = new DecisionLog(state.decisions);
    this.circuit = new Circuit(state.circuit);
    for (const lease of leases) this.hold(lease);
    for (const ticket of tickets) this.order.put(ticket);
  }

  get state(): LedgerState {
    return {
      epoch: this.epoch,
      nextSeq: this.nextSeq,
      leases: this.held.values(),
      tickets: this.order.byArrival().map(({ ticket }) => ticket),
      sinceAged: this.aged.since,
      passes: this.reservations.passes,
      reservation: this.reservations.held,
      quotaCaps: this.standing.quotaCaps,
      lastGrants: this.inUseNow.lastGrants.all,
      sessions: this.sessions.carry(),
      circuit: this.circuit.state,
      decisions: this.log.last,
    };
  }

  /** The number of the next lease. */
  get nextLease(): number {
    return this.nextSeq;
  }

  get leases(): ReadonlyMap<string, Lease> {
    return this.held;
  }

  get waiting(): number {
    return this.order.size;
  }

  get isIdle(): boolean {
    return this.held.size + this.waiting === 0;
  }

  /** What room is kept for. */
  get reservation(): Reservation | undefined {
    return this.reservations.held;
  }

  /** Workspaces that are granted nothing, as they have as many open runs as their quota allows, over all pools. */
  get parked(): string[] {
    return this.standing.parked;
  }

  /**
   * Words to say now and then that parked workspaces may have room, where nobody knows: as many for each as it holds
   * leases, so that it soon has what it may, and one at least.
   */
  get guesses(): string[] {
    return this.parked.flatMap((workspace) => new Array(Math.max(1, this.useOf(workspace).slots)).fill(workspace));
  }

  get inUse(): Readonly<Use> {
    return this.inUseNow.total;
  }

  /** The last of them, oldest first. */
  get decisions(): readonly DecisionRecord[] {
    return this.log.last;
  }

  useOf(workspace: string): Readonly<Use> {
    return this.inUseNow.of(workspace);
  }

  ticketOf(holder: string): Ticket | undefined {
    return this.order.get(holder)?.ticket;
  }

  protected hold(lease: Lease): void {
    this.held.set(lease.holder, lease);
    this.inUseNow.add(lease);
    this.sessions.hold(lease);
  }
}
