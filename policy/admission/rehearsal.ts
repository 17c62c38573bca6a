import type { Demand, Lease, Release, Ticket } from '../../contracts/admission.js';
import { Heap } from '../heap.js';
import { inFlightBudget } from '../windows.js';
import type { Delivery } from './decision.js';
import { DrawnDurations, expectedOf } from './drawn-durations.js';
import { Ledger, MAX_TICKETS } from './ledger.js';
import { limitsAt } from './limits.js';
import { type Backlog, type Course, type Fate, fateName, type Grouped, type Load } from './load.js';
import { noUse, type Use } from './room.js';
import { scorecardOf } from './shares.js';

export interface Terms {
  seed: number;
  /** So many cases of a backlog go one after the other in one slot, to spare work; 1: each for itself. */
  together: number;
  /** Whether it ends once every ticket of the beginning has started. */
  isTicketsOnly: boolean;
}

/** A scorecard that asks for slots. */
interface Flow {
  backlog: Backlog;
  left: number;
  inFlight: number;
}

/** What a ticket stands for: one case, or several in a row. */
interface Work {
  group: string;
  cases: number;
  isOfBeginning: boolean;
}

interface Running {
  holder: string;
  seq: number;
}

/** Grants between two pauses. */
const SLICE = 200;

/**
 * One possible future of a pool, decided by the ledger itself: whoever starts runs for a drawn duration, and scorecards
 * ask for further slots as their windows would.
 */
export class Rehearsal {
  private now: number;
  private readonly ledger: Ledger;
  private readonly ends = new Heap<Running>();
  private readonly waiting = new Map<string, Work>();
  private readonly flows = new Map<string, Flow>();
  private readonly fates = new Map<string, Fate>();
  private readonly starts = new Map<string, number>();
  private readonly durations: DrawnDurations;
  private readonly expected: ReadonlyMap<string, number>;
  private readonly peak: Use = noUse();
  private refused = 0;

  constructor(
    private readonly load: Load,
    private readonly terms: Terms,
    replication: number,
  ) {
    const { now, leases, tickets, backlogs, samples } = load;
    this.now = now;
    this.durations = new DrawnDurations(samples, terms.seed, replication);
    this.expected = expectedOf(samples);
    for (const backlog of backlogs) this.flows.set(backlog.scorecard, { backlog, left: backlog.count, inFlight: 0 });
    this.ledger = Ledger.open(1, leases.map(this.expecting), tickets.map(this.expecting));
    for (const lease of leases) this.resume(lease);
    for (const ticket of tickets) this.enqueue(ticket, { group: ticket.group, cases: 1, isOfBeginning: true });
  }

  /** Pauses now and then, for whoever has more to do. */
  *play(): Generator<void, Course> {
    let release: Release[] = [];
    for (let granted = 0; ; ) {
      this.ledger.receive([{ acquire: this.asking(), release }], this.now);
      granted += this.decide();
      const next = this.nextInstant();
      if (next === undefined || this.isEnough) break;
      this.now = next;
      release = this.end();
      if (granted >= SLICE) {
        granted = 0;
        yield;
      }
    }
    if (!this.terms.isTicketsOnly) this.leaveRest();
    let endMs = 0;
    for (const fate of this.fates.values()) endMs = Math.max(endMs, fate.endMs);
    const { fates, starts, peak, refused } = this;
    return { endMs, fates, starts, peak, refused };
  }

  private resume(lease: Grouped<Lease>): void {
    const flow = this.flows.get(scorecardOf(lease.holder));
    if (flow) flow.inFlight += 1;
    const ageMs = Math.max(0, this.now - lease.grantedAt);
    this.begin(lease, this.durations.leftOf(lease.group, lease.holder, ageMs));
  }

  private get isEnough(): boolean {
    return this.terms.isTicketsOnly && this.starts.size + this.refused >= this.load.tickets.length;
  }

  /** Nobody asks live session pools here: they have room for every case. */
  private readonly expecting = <Of extends Lease | Ticket>(asked: Grouped<Of>): Grouped<Of> => {
    const expectedMs = this.expected.get(asked.group);
    const demand: Demand = { ...asked.demand, sessionPool: undefined };
    return Object.assign({ ...asked }, { demand }, expectedMs === undefined ? {} : { expectedMs });
  };

  private enqueue(ticket: Ticket, work: Work): void {
    this.waiting.set(ticket.holder, work);
    const flow = this.flows.get(scorecardOf(ticket.holder));
    if (flow) flow.inFlight += 1;
  }

  /** What scorecards ask for now: each in its turn, as long as the ledger takes more. */
  private asking(): Ticket[] {
    const { slots } = limitsAt(this.load.limits, this.now).envelope;
    const tickets: Ticket[] = [];
    let open = [...this.flows.values()];
    while (open.length > 0 && this.ledger.waiting + tickets.length < MAX_TICKETS) {
      open = open.filter(
        ({ left, inFlight, backlog: { concurrency } }) => left > 0 && inFlight < inFlightBudget({ slots, concurrency }),
      );
      for (const flow of open) tickets.push(this.ask(flow));
    }
    return tickets;
  }

  private ask(flow: Flow): Ticket {
    const { backlog, left } = flow;
    const { scorecard, workspace, group, demands, class: workClass } = backlog;
    const cases = Math.min(left, this.terms.together);
    const made = backlog.count - left;
    flow.left -= cases;
    const holder = holderOf(scorecard, made);
    const demand = demands[made % demands.length] ?? {};
    const ticket = { holder, to: holder, workspace, class: workClass, demand, askedAt: this.now, group };
    this.enqueue(ticket, { group, cases, isOfBeginning: false });
    return this.expecting(ticket);
  }

  /** Until nothing more starts now. Returns how many did. */
  private decide(): number {
    for (let total = 0; ; ) {
      const { granted, refused, isCut } = this.ledger.decide(this.load.limits, this.now);
      for (const delivery of granted) this.start(delivery);
      for (const { holder } of refused) this.drop(holder);
      total += granted.length;
      if (isCut) continue;
      for (const axis of AXES) this.peak[axis] = Math.max(this.peak[axis], this.ledger.inUse[axis]);
      return total;
    }
  }

  private drop(holder: string): void {
    this.refused += this.waiting.get(holder)?.cases ?? 0;
    this.waiting.delete(holder);
  }

  private start({ holder }: Delivery): void {
    const [work, lease] = [this.waiting.get(holder), this.ledger.leases.get(holder)];
    if (!work || !lease) return;
    this.waiting.delete(holder);
    const fate = this.fateOf(lease.workspace, holder);
    const waitedMs = this.now - this.load.now;
    let takesMs = 0;
    for (let part = 0; part < work.cases; part += 1) {
      fate.waitsMs.push(waitedMs + takesMs);
      takesMs += this.durations.of(work.group, holder, part);
    }
    if (work.isOfBeginning) this.starts.set(holder, waitedMs);
    this.begin(lease, takesMs);
  }

  private begin(lease: Lease, leftMs: number): void {
    const { holder, seq } = lease;
    const endsAt = this.now + leftMs;
    this.ends.push(endsAt, { holder, seq });
    const fate = this.fateOf(lease.workspace, holder);
    fate.endMs = Math.max(fate.endMs, endsAt - this.load.now);
  }

  /** When the next one ends, or the limits change by themselves. Never: what waits now waits for ever. */
  private nextInstant(): number | undefined {
    const { until = Number.POSITIVE_INFINITY } = limitsAt(this.load.limits, this.now);
    const next = Math.min(until, this.ends.least ?? Number.POSITIVE_INFINITY);
    const isWaiting = this.waiting.size > 0;
    return Number.isFinite(next) && (isWaiting || this.ends.size > 0) ? next : undefined;
  }

  private end(): Release[] {
    const release: Release[] = [];
    while ((this.ends.least ?? Number.POSITIVE_INFINITY) <= this.now) {
      const ended = this.ends.pop();
      if (!ended) break;
      release.push(ended);
      const flow = this.flows.get(scorecardOf(ended.holder));
      if (flow) flow.inFlight -= 1;
    }
    return release;
  }

  /** What never started waits for ever, as far as is known. */
  private leaveRest(): void {
    for (const [holder, { cases }] of this.waiting) {
      const ticket = this.ledger.ticketOf(holder);
      if (ticket) this.neverStarts(this.fateOf(ticket.workspace, holder), cases);
    }
    for (const { backlog, left } of this.flows.values()) {
      const { workspace, scorecard } = backlog;
      if (left > 0) this.neverStarts(this.fateOf(workspace, holderOf(scorecard, backlog.count)), left);
    }
  }

  private neverStarts(fate: Fate, cases: number): void {
    for (let i = 0; i < cases; i += 1) fate.waitsMs.push(Number.POSITIVE_INFINITY);
    fate.endMs = Number.POSITIVE_INFINITY;
  }

  private fateOf(workspace: string, holder: string): Fate {
    const name = fateName(workspace, scorecardOf(holder));
    const known = this.fates.get(name);
    if (known) return known;
    const fate: Fate = { workspace, waitsMs: [], endMs: 0 };
    this.fates.set(name, fate);
    return fate;
  }
}

/** Of the n-th queued case of a scorecard. */
const holderOf = (scorecard: string, n: number): string => `case:${scorecard}.+${n}`;

const AXES = ['slots', 'memoryMb', 'cpuMillicores'] as const;
