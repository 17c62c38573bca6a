import type { Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type Excess, exceeds } from '../demand.js';
import type { Order } from './order.js';
import { isKnown } from './room.js';
import { isSameEnvelope } from './standing.js';

/** Finds tickets above the whole envelope: each is compared once, and all of them when the envelope is another. */
export class DemandCheck {
  private readonly unchecked = new Set<string>();
  private checkedBy?: Envelope;

  constructor(private readonly order: Order) {}

  add(holder: string): void {
    this.unchecked.add(holder);
  }

  /** At most so many; the others the next time. */
  excessive(envelope: Envelope, most: number): { ticket: Ticket; excess: Excess }[] {
    if (!this.checkedBy || !isSameEnvelope(this.checkedBy, envelope)) {
      for (const { ticket } of this.order.byArrival()) this.unchecked.add(ticket.holder);
    }
    this.checkedBy = envelope;
    const found: { ticket: Ticket; excess: Excess }[] = [];
    for (const holder of this.unchecked) {
      if (found.length === most) break;
      this.unchecked.delete(holder);
      const ticket = this.order.get(holder)?.ticket;
      const excess = ticket && isKnown(ticket) ? exceeds(ticket.demand, envelope) : undefined;
      if (ticket && excess) found.push({ ticket, excess });
    }
    return found;
  }
}
