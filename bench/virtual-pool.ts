import type { AdmissionLimits, Ticket } from '../contracts/admission.js';
import { Ledger } from '../policy/admission/ledger.js';
import { Heap } from '../policy/heap.js';

/** A case that arrives, waits for its slot and holds it so long, in ms of a clock that jumps from event to event. */
export interface Work {
  at: number;
  ms: number;
  ticket: Ticket;
}

export interface Played extends Work {
  startedAt: number;
  endedAt: number;
}

/**
 * Plays work out on one pool: the product's own policy decides, everything around it takes no time. `width`: tickets
 * that one workspace has in the pool at once, as a scorecard keeps them; what is beyond waits outside.
 */
export function playOut(works: readonly Work[], limits: AdmissionLimits, width = Number.POSITIVE_INFINITY): Played[] {
  const ledger = Ledger.open(1, [], []);
  const arrivals = works.toSorted((one, other) => one.at - other.at);
  const byHolder = new Map(works.map((work) => [work.ticket.holder, work]));
  const outside = new Outside(width);
  /** By their ends. */
  const running = new Heap<Played & { seq: number }>();
  const played: Played[] = [];
  let arrived = 0;
  for (;;) {
    const now = Math.min(arrivals[arrived]?.at ?? Number.POSITIVE_INFINITY, running.least ?? Number.POSITIVE_INFINITY);
    if (now === Number.POSITIVE_INFINITY) return played;
    const release: { holder: string; seq: number }[] = [];
    while (running.least !== undefined && running.least <= now) {
      const ended = running.pop();
      if (!ended) break;
      const { seq, ...done } = ended;
      played.push(done);
      release.push({ holder: done.ticket.holder, seq });
    }
    for (let next = arrivals[arrived]; next !== undefined && next.at <= now; next = arrivals[arrived]) {
      outside.push(next.ticket);
      arrived += 1;
    }
    ledger.receive([{ acquire: outside.take(), release }], now);
    for (let isCut = true; isCut; ) {
      const decision = ledger.decide(limits, now);
      isCut = decision.isCut;
      for (const { holder, seq } of decision.granted) {
        const work = byHolder.get(holder);
        if (!work) continue;
        outside.left(work.ticket);
        const endedAt = now + work.ms;
        running.push(endedAt, { ...work, startedAt: now, endedAt, seq });
      }
      const freed = outside.take();
      if (freed.length > 0) ledger.receive([{ acquire: freed, release: [] }], now);
    }
  }
}

/** What has arrived and has no ticket yet, by workspace. */
class Outside {
  private readonly queues = new Map<string, { tickets: Ticket[]; next: number; inside: number }>();

  constructor(private readonly width: number) {}

  push(ticket: Ticket): void {
    const queue = this.queues.get(ticket.workspace) ?? { tickets: [], next: 0, inside: 0 };
    this.queues.set(ticket.workspace, queue);
    queue.tickets.push(ticket);
  }

  take(): Ticket[] {
    const taken: Ticket[] = [];
    for (const queue of this.queues.values()) {
      while (queue.inside < this.width && queue.next < queue.tickets.length) {
        const ticket = queue.tickets[queue.next];
        if (ticket) taken.push(ticket);
        queue.next += 1;
        queue.inside += 1;
      }
    }
    return taken;
  }

  left({ workspace }: Ticket): void {
    const queue = this.queues.get(workspace);
    if (queue) queue.inside -= 1;
  }
}
