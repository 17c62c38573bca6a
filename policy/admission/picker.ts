import type { Lease } from '../../contracts/admission.js';
import type { DecisionRecord } from '../../contracts/decisions.js';
import type { Envelope } from '../../contracts/runtime.js';
import { AGED_AFTER_MS, type AgedTurn } from './ageing.js';
import type { May } from './fit-tree.js';
import type { Waiter } from './lines.js';
import type { Order } from './order.js';
import { beside, type Reservation, type Reservations, startBy } from './reservation.js';
import { fits, isKnown, type Use, wholeOf } from './room.js';

export type GrantedBy = Extract<DecisionRecord, { what: 'granted' }>['by'];

/** Who starts next. */
export interface Pick {
  waiter: Waiter;
  by: GrantedBy;
  /** Who was first, and did not fit. */
  passed?: Waiter;
}

/** Chooses, within one decision, who starts next: rules 1 to 10 of `Ledger.decide`. */
export class Picker {
  private readonly whole: Use;

  constructor(
    private readonly order: Order,
    private readonly reservations: Reservations,
    private readonly aged: AgedTurn,
    envelope: Envelope,
    private readonly now: number,
  ) {
    this.whole = wholeOf(envelope);
  }

  pick(room: Use): Pick | undefined {
    const reserved = this.reserved();
    if (room.slots < 1) return undefined;
    if (reserved && fits(reserved.bounds, room)) return this.counted({ waiter: reserved, by: 'reservation' });
    const found = this.first(reserved ? this.mayGoBefore(reserved, room) : (bounds) => fits(bounds, room));
    if (!found || !reserved) return found && this.counted({ ...found, ...this.passedBy(found.waiter) });
    const isBeside = fits(found.waiter.bounds, beside(room, reserved.ticket.demand));
    return this.counted(isBeside ? found : { ...found, by: 'back-fill' });
  }

  /** Keeps room for it from now on. */
  reserve({ ticket }: Waiter, room: Use, leases: Iterable<Lease>): Reservation {
    return this.reservations.reserve(ticket.holder, this.now, startBy(ticket.demand, room, leases, this.now));
  }

  /** What room is kept for, unless it cannot start now however much is free. */
  private reserved(): Waiter | undefined {
    const { held } = this.reservations;
    const waiter = held && this.order.get(held.holder);
    if (waiter && this.order.isOpenFor(waiter) && fits(waiter.bounds, this.whole)) return waiter;
    this.reservations.suspend();
    return undefined;
  }

  private mayGoBefore({ ticket }: Waiter, room: Use): May {
    const spare = beside(room, ticket.demand);
    const until = this.reservations.held?.startBy ?? Number.NEGATIVE_INFINITY;
    return (bounds) => fits(bounds, spare) || (this.now + bounds.expectedMs <= until && fits(bounds, room));
  }

  private first(may: May): Pick | undefined {
    if (this.aged.isNext && this.order.hasOpen('interactive')) {
      const waiter = this.order.find('batch', (bounds) => this.isAged(bounds) && may(bounds));
      if (waiter) return { waiter, by: 'ageing' };
    }
    const waiter = this.order.find('interactive', may) ?? this.order.find('batch', may);
    return waiter && { waiter, by: 'order' };
  }

  private passedBy(waiter: Waiter): Partial<Pick> {
    const head = this.first((bounds) => fits(bounds, this.whole))?.waiter;
    return head && head !== waiter && isKnown(head.ticket) ? { passed: head } : {};
  }

  private counted(pick: Pick): Pick {
    const { ticket, bounds } = pick.waiter;
    const isBatch = ticket.class === 'batch';
    this.aged.granted(isBatch && this.isAged(bounds) && this.order.hasOpen('interactive'));
    return pick;
  }

  private isAged = ({ askedAt }: { askedAt: number }): boolean => askedAt <= this.now - AGED_AFTER_MS;
}
