import type { Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type Excess, exceeds } from '../demand.js';
import type { Order } from './order.js';
import { isKnown } from './room.js';
import { isSameEnvelope } from './standing.js';

/** Finds tickets above the whole envelope: each is compared once, and all of them when the envelope is another. */
export class DemandCheck {
  private readonly arrived = new Set<string>();
  private checkedBy?: Envelope;

  constructor(private readonly order: Order) {}

  add(holder: string): void {
    this.arrived.add(holder);
  }

  excessive(envelope: Envelope): { ticket: Ticket; excess: Excess }[] {
    const isSame = this.checkedBy !== undefined && isSameEnvelope(this.checkedBy, envelope);
    const waiters = isSame
      ? [...this.arrived].flatMap((holder) => this.order.get(holder) ?? [])
      : this.order.byArrival();
    this.checkedBy = envelope;
    this.arrived.clear();
    return waiters.flatMap(({ ticket }) => {
      const excess = isKnown(ticket) ? exceeds(ticket.demand, envelope) : undefined;
      return excess ? [{ ticket, excess }] : [];
    });
  }
}
