import type {
  AdmissionLimits,
  AdmissionMessage,
  Demand,
  Grant,
  Lease,
  Release,
  Ticket,
  WorkClass,
} from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type Excess, exceeds } from '../demand.js';
import { limitsAt } from './limits.js';

/** A grant and the workflow that is told of it. */
export interface Delivery extends Grant {
  to: string;
}

/** A ticket that can never be met: it asks for more than the whole envelope. */
export interface Refusal extends Excess {
  holder: string;
  to: string;
}

export interface Decision {
  granted: Delivery[];
  refused: Refusal[];
  /** As many as one delivery carries were granted: there may be more to decide. */
  isCut: boolean;
}

/** Grants of one decision: as many as one delivery can carry. */
export const MAX_GRANTS = 200;
/** As many as continue-as-new can carry in 1 MB. */
export const MAX_TICKETS = 5_000;
/** Leases ever granted in one epoch: their numbers never meet those of another one. */
const SEQS_PER_EPOCH = 1e9;

const CLASSES: readonly WorkClass[] = ['interactive', 'batch'];

/** What a ledger is made of. */
export interface LedgerState {
  epoch: number;
  nextSeq: number;
  leases: Iterable<Lease>;
  /** In order of arrival. */
  tickets: Iterable<Ticket>;
}

/** Leases and queue of one pool. It changes in place, and knows neither clock nor world. */
export class Ledger {
  readonly epoch: number;
  private nextSeq: number;
  private readonly held = new Map<string, Lease>();
  private readonly waiters: Record<WorkClass, Map<string, Ticket>> = { interactive: new Map(), batch: new Map() };

  constructor({ epoch, nextSeq, leases, tickets }: LedgerState) {
    this.epoch = epoch;
    this.nextSeq = nextSeq;
    for (const lease of leases) this.held.set(lease.holder, lease);
    for (const ticket of tickets) this.enqueue(ticket);
  }

  /** The ledger of a new epoch: live attempts keep their leases, waiting runs queue again in the order given. */
  static open(epoch: number, leases: readonly Lease[], tickets: readonly Ticket[]): Ledger {
    return new Ledger({ epoch, nextSeq: epoch * SEQS_PER_EPOCH, leases, tickets });
  }

  get state(): LedgerState {
    return { epoch: this.epoch, nextSeq: this.nextSeq, leases: this.held.values(), tickets: this.tickets() };
  }

  get leases(): ReadonlyMap<string, Lease> {
    return this.held;
  }

  get waiting(): number {
    return this.waiters.interactive.size + this.waiters.batch.size;
  }

  get isIdle(): boolean {
    return this.held.size + this.waiting === 0;
  }

  ticketOf(holder: string): Ticket | undefined {
    return this.waiters.interactive.get(holder) ?? this.waiters.batch.get(holder);
  }

  /**
   * Applies messages in order; in each, releases go first. Returns grants that are due again.
   * 1. A release with `seq` drops the lease of that number; without one, the ticket; of a holder that is gone, both.
   * 2. An acquire by a holder with a lease is a lost or repeated message: the same grant is due again, to who asks now.
   * 3. An acquire by a holder that waits keeps its place.
   * 4. A full queue takes no new ticket: who asked, asks again.
   */
  receive(messages: readonly AdmissionMessage[], _now: number): Delivery[] {
    const again = new Map<string, Delivery>();
    for (const { acquire, release } of messages) {
      for (const given of release) if (this.release(given)) again.delete(given.holder);
      for (const ticket of acquire) {
        const lease = this.held.get(ticket.holder);
        if (lease) {
          this.held.set(ticket.holder, { ...lease, to: ticket.to });
          again.set(ticket.holder, { holder: ticket.holder, seq: lease.seq, epoch: this.epoch, to: ticket.to });
        } else if (this.ticketOf(ticket.holder) || this.waiting < MAX_TICKETS) this.enqueue(ticket);
      }
    }
    return [...again.values()];
  }

  /**
   * Which waiting tickets start now. They hold their demand from here on, before anyone is told.
   * 1. Interactive tickets go before batch ones.
   * 2. Within a class, in order of arrival.
   * 3. A ticket fits if slots, declared memory and declared CPU all stay within the envelope; an exact fit fits.
   * 4. What a ticket does not declare is not counted: it takes a slot only, even where that sum is already full.
   * 5. A ticket that does not fit is passed over; smaller ones behind it may start.
   * 6. A ticket that asks for more than the whole envelope is refused.
   */
  decide(limits: AdmissionLimits, now: number, max = MAX_GRANTS): Decision {
    const { envelope, isOpen } = limitsAt(limits, now);
    const room = this.roomIn(envelope);
    const refused = this.refuse(limits.envelope);
    const granted: Delivery[] = [];
    if (!isOpen) return { granted, refused, isCut: false };
    for (const ticket of [...this.tickets()]) {
      if (room.slots < 1 || granted.length >= max) break;
      if (!fits(ticket.demand, room)) continue;
      take(room, ticket.demand);
      granted.push(this.grant(ticket, now));
    }
    return { granted, refused, isCut: granted.length === max };
  }

  /** Whether it ended a lease. */
  private release({ holder, seq, isGone }: Release): boolean {
    const isEnd = isGone === true || (seq !== undefined && this.held.get(holder)?.seq === seq);
    if (isEnd) this.held.delete(holder);
    if (isGone === true || seq === undefined) for (const name of CLASSES) this.waiters[name].delete(holder);
    return isEnd;
  }

  private grant({ holder, to, workspace, demand, class: workClass, expectedMs }: Ticket, now: number): Delivery {
    const seq = this.nextSeq;
    this.nextSeq += 1;
    this.waiters[workClass].delete(holder);
    const expected = expectedMs === undefined ? {} : { expectedMs };
    this.held.set(holder, { holder, to, workspace, seq, demand, grantedAt: now, ...expected });
    return { holder, seq, epoch: this.epoch, to };
  }

  private enqueue(ticket: Ticket): void {
    for (const name of CLASSES) if (name !== ticket.class) this.waiters[name].delete(ticket.holder);
    this.waiters[ticket.class].set(ticket.holder, ticket);
  }

  private refuse(envelope: Envelope): Refusal[] {
    const refused: Refusal[] = [];
    for (const { holder, to, demand } of this.tickets()) {
      const excess = exceeds(demand, envelope);
      if (excess) refused.push({ holder, to, ...excess });
    }
    for (const { holder } of refused) this.release({ holder });
    return refused;
  }

  /** In the order they are considered: rules 1 and 2 of `decide`. */
  private *tickets(): Iterable<Ticket> {
    for (const name of CLASSES) yield* this.waiters[name].values();
  }

  /** What is free; negative after a limit was lowered, until enough is given back. */
  private roomIn(envelope: Envelope): Room {
    const { slots, memoryMb = Number.POSITIVE_INFINITY, cpuMillicores = Number.POSITIVE_INFINITY } = envelope;
    const room = { slots, memoryMb, cpuMillicores };
    for (const { demand } of this.held.values()) take(room, demand);
    return room;
  }
}

interface Room {
  slots: number;
  memoryMb: number;
  cpuMillicores: number;
}

const fits = ({ memoryMb, cpuMillicores }: Demand, room: Room): boolean =>
  room.slots >= 1 &&
  (memoryMb === undefined || memoryMb <= room.memoryMb) &&
  (cpuMillicores === undefined || cpuMillicores <= room.cpuMillicores);

function take(room: Room, { memoryMb = 0, cpuMillicores = 0 }: Demand): void {
  room.slots -= 1;
  room.memoryMb -= memoryMb;
  room.cpuMillicores -= cpuMillicores;
}
