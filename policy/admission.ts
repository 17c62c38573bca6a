import type { AdmissionMessage, Demand, Grant, Lease, Release, Ticket, WorkClass } from '../contracts/admission.js';
import type { Envelope } from '../contracts/runtime.js';
import { OrderedMap, type ReadonlyOrderedMap } from './ordered-map.js';

/** Leases and queue of one pool. Treated as read-only: every function returns a new value. */
export interface Ledger {
  epoch: number;
  nextSeq: number;
  /** By holder. */
  leases: ReadonlyOrderedMap<Lease>;
  /** By holder, in order of arrival. */
  waiters: Readonly<Record<WorkClass, ReadonlyOrderedMap<Ticket>>>;
}

/** A grant and the workflow that is told of it. */
export interface Delivery extends Grant {
  to: string;
}

/** Grants of one decision: as many as one delivery can carry. */
export const MAX_GRANTS = 200;
/** As many as continue-as-new can carry in 1 MB. */
const MAX_TICKETS = 5_000;
/** Leases ever granted in one epoch: their numbers never meet those of another one. */
const SEQS_PER_EPOCH = 1e9;

const CLASSES: readonly WorkClass[] = ['interactive', 'batch'];

/** The ledger of a new epoch: live attempts keep their leases, waiting runs queue again in the order given. */
export function openLedger(epoch: number, leases: readonly Lease[], tickets: readonly Ticket[]): Ledger {
  const opened: Ledger = {
    epoch,
    nextSeq: epoch * SEQS_PER_EPOCH,
    leases: OrderedMap.from(leases.map((lease) => [lease.holder, lease])),
    waiters: { interactive: new OrderedMap(), batch: new OrderedMap() },
  };
  return receive(opened, [{ acquire: [...tickets], release: [] }]).ledger;
}

/**
 * Applies messages in order; in each, releases go first.
 * 1. A release with `seq` drops the lease of that number; without one, the ticket; of a holder that is gone, both.
 * 2. An acquire by a holder with a lease is a lost or repeated message: the same grant is due again, to who asks now.
 * 3. An acquire by a holder that waits keeps its place.
 * 4. A full queue takes no new ticket: who asked, asks again.
 */
export function receive(ledger: Ledger, messages: readonly AdmissionMessage[]): { ledger: Ledger; again: Delivery[] } {
  const leases = ledger.leases.copy();
  const waiters = { interactive: ledger.waiters.interactive.copy(), batch: ledger.waiters.batch.copy() };
  const again = new Map<string, Delivery>();
  for (const { acquire, release } of messages) {
    for (const { holder, seq, isGone = false } of release) {
      if (isGone || (seq !== undefined && leases.get(holder)?.seq === seq)) {
        leases.delete(holder);
        again.delete(holder);
      }
      if (isGone || seq === undefined) for (const name of CLASSES) waiters[name].delete(holder);
    }
    for (const ticket of acquire) {
      const lease = leases.get(ticket.holder);
      if (lease) {
        leases.set(ticket.holder, { ...lease, to: ticket.to });
        again.set(ticket.holder, { holder: ticket.holder, seq: lease.seq, epoch: ledger.epoch, to: ticket.to });
      } else if (CLASSES.some((name) => waiters[name].has(ticket.holder)) || sizeOf(waiters) < MAX_TICKETS) {
        for (const name of CLASSES) if (name !== ticket.class) waiters[name].delete(ticket.holder);
        waiters[ticket.class].set(ticket.holder, ticket);
      }
    }
  }
  return { ledger: { ...ledger, leases, waiters }, again: [...again.values()] };
}

export const release = (ledger: Ledger, releases: readonly Release[]): Ledger =>
  receive(ledger, [{ acquire: [], release: [...releases] }]).ledger;

/**
 * Which waiting tickets start now. They hold their demand from here on, before anyone is told.
 * 1. Interactive tickets go before batch ones.
 * 2. Within a class, in order of arrival.
 * 3. A ticket fits if slots, declared memory and declared CPU all stay within the envelope; an exact fit fits.
 * 4. What a ticket does not declare is not counted: it takes a slot only, even where that sum is already full.
 * 5. A ticket that does not fit is passed over; smaller ones behind it may start.
 */
export function admit(
  ledger: Ledger,
  envelope: Envelope,
  now: number,
  max = MAX_GRANTS,
): { ledger: Ledger; granted: Delivery[] } {
  const room = roomIn(ledger, envelope);
  const picked: Ticket[] = [];
  for (const ticket of inOrder(ledger)) {
    if (room.slots < 1 || picked.length >= max) break;
    if (!fits(ticket.demand, room)) continue;
    take(room, ticket.demand);
    picked.push(ticket);
  }
  if (picked.length === 0) return { ledger, granted: [] };

  const leases = ledger.leases.copy();
  const waiters = { interactive: ledger.waiters.interactive.copy(), batch: ledger.waiters.batch.copy() };
  const granted = picked.map(({ holder, to, class: workClass, demand }, i): Delivery => {
    const seq = ledger.nextSeq + i;
    leases.set(holder, { holder, to, seq, demand, grantedAt: now });
    waiters[workClass].delete(holder);
    return { holder, seq, epoch: ledger.epoch, to };
  });
  return { ledger: { ...ledger, nextSeq: ledger.nextSeq + picked.length, leases, waiters }, granted };
}

/** Tickets in the order they are considered: rules 1 and 2 of `admit`. */
function* inOrder({ waiters }: Ledger): Iterable<Ticket> {
  for (const name of CLASSES) yield* waiters[name].values();
}

interface Room {
  slots: number;
  memoryMb: number;
  cpuMillicores: number;
}

/** What is free; negative after a limit was lowered, until enough is given back. */
function roomIn({ leases }: Ledger, envelope: Envelope): Room {
  const { slots, memoryMb = Number.POSITIVE_INFINITY, cpuMillicores = Number.POSITIVE_INFINITY } = envelope;
  const room = { slots, memoryMb, cpuMillicores };
  for (const { demand } of leases.values()) take(room, demand);
  return room;
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

const sizeOf = ({ interactive, batch }: Ledger['waiters']): number => interactive.size + batch.size;

export const waitingCount = ({ waiters }: Ledger): number => sizeOf(waiters);
