import type { Ticket } from '../../contracts/admission.js';
import { AGED_AFTER_MS, AgedTurn } from './ageing.js';
import type { Waiter } from './lines.js';
import type { Order } from './order.js';

/** Every ticket once: what room is kept for, then aged work and interactive tickets in turn, then the rest. */
export function* inOrder(order: Order, reserved: string | undefined, aged: AgedTurn, now: number): Generator<Ticket> {
  const yielded = new Set<Waiter>();
  const first = reserved === undefined ? undefined : order.get(reserved);
  if (first) {
    yielded.add(first);
    yield first.ticket;
  }
  for (const waiter of inTurn(order, aged, now)) {
    if (yielded.has(waiter)) continue;
    yielded.add(waiter);
    yield waiter.ticket;
  }
}

/** Tickets that aged come twice: in their turn, and where they stand in their class. */
function* inTurn(order: Order, { since }: AgedTurn, now: number): Generator<Waiter> {
  const turn = new AgedTurn(since);
  const agedOnes = agedOf(order.of('batch'), now);
  for (const waiter of order.of('interactive')) {
    if (turn.isNext) {
      const { value } = agedOnes.next();
      if (value) yield value;
      turn.granted(value !== undefined);
    }
    yield waiter;
    turn.granted(false);
  }
  yield* order.of('batch');
}

function* agedOf(waiters: Iterable<Waiter>, now: number): Generator<Waiter, undefined> {
  for (const waiter of waiters) if (waiter.bounds.askedAt <= now - AGED_AFTER_MS) yield waiter;
}
