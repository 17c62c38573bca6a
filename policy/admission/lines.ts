import type { Ticket } from '../../contracts/admission.js';
import { type Bounds, FitTree, lower, type May, NOTHING } from './fit-tree.js';
import { NEVER } from './room.js';

/** What decides where lines stand, and whether those in them may be granted anything now. */
export interface Gates {
  /** Of a workspace, or of one of its scorecards: what it has in use. */
  shareOf(workspace: string, scorecard?: string): number;
  /** The number of its last lease. */
  lastGrantOf(workspace: string, scorecard?: string): number;
  isOpen(workspace: string): boolean;
  isPaused(scorecard: string): boolean;
  hasSession(sessionPool: string): boolean;
}

/** A ticket in its place. */
export interface Waiter {
  ticket: Ticket;
  /** Its number in the order of arrival. */
  arrival: number;
  bounds: Bounds;
}

const byArrival = (one: Waiter, other: Waiter): number => one.arrival - other.arrival;

/** Tickets of one scorecard in order of arrival, by the session pool they need; or one promoted ticket. */
export class ScorecardLine {
  share = 0;
  lastGrant = 0;
  isPaused = false;
  private readonly pools = new Map<string, { waiters: FitTree<Waiter>; isOpen: boolean }>();

  constructor(
    readonly scorecard: string,
    readonly promotedAt: number,
    readonly arrival: number,
  ) {}

  /** Promoted ones first, as they were promoted; then the lower share, then who was granted something longer ago. */
  static compare(one: ScorecardLine, other: ScorecardLine): number {
    if (one.promotedAt !== other.promotedAt) return one.promotedAt - other.promotedAt;
    if (one.promotedAt !== NEVER) return one.arrival - other.arrival;
    return one.share - other.share || one.lastGrant - other.lastGrant || byText(one.scorecard, other.scorecard);
  }

  get isEmpty(): boolean {
    return this.pools.size === 0;
  }

  get bounds(): Readonly<Bounds> {
    if (this.isPaused) return NOTHING;
    const least = { ...NOTHING };
    for (const { waiters, isOpen } of this.pools.values()) if (isOpen) lower(least, waiters.bounds);
    return least;
  }

  add(waiter: Waiter, gates: Gates): void {
    const name = poolOf(waiter);
    const pool = this.pools.get(name) ?? {
      waiters: new FitTree(byArrival),
      isOpen: name === '' || gates.hasSession(name),
    };
    this.pools.set(name, pool);
    pool.waiters.insert(waiter);
  }

  remove(waiter: Waiter): void {
    const pool = this.pools.get(poolOf(waiter));
    pool?.waiters.remove(waiter);
    if (pool?.waiters.isEmpty) this.pools.delete(poolOf(waiter));
  }

  /** Where it stands now; not while it is in a tree. */
  stand(workspace: string, gates: Gates): void {
    this.share = gates.shareOf(workspace, this.scorecard);
    this.lastGrant = gates.lastGrantOf(workspace, this.scorecard);
    this.isPaused = gates.isPaused(this.scorecard);
  }

  look(gates: Gates): void {
    for (const [name, pool] of this.pools) pool.isOpen = name === '' || gates.hasSession(name);
  }

  needs(sessionPool: string): boolean {
    return this.pools.has(sessionPool);
  }

  isOpenFor(waiter: Waiter): boolean {
    return !this.isPaused && this.pools.get(poolOf(waiter))?.isOpen === true;
  }

  find(may: May): Waiter | undefined {
    let first: Waiter | undefined;
    for (const { waiters, isOpen } of this.pools.values()) {
      const found = isOpen ? waiters.find(may, (waiter) => waiter) : undefined;
      if (found && (!first || found.arrival < first.arrival)) first = found;
    }
    return first;
  }

  get newest(): Waiter | undefined {
    let newest: Waiter | undefined;
    for (const { waiters } of this.pools.values()) newest = newer(newest, waiters.last);
    return newest;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    const [only, ...others] = [...this.pools.values()].map(({ waiters }) => waiters);
    if (only && others.length === 0) yield* only;
    else if (only) yield* [only, ...others].flatMap((waiters) => [...waiters]).sort(byArrival);
  }
}

/** Tickets of one workspace in one class. */
export class WorkspaceLine {
  share = 0;
  lastGrant = 0;
  isOpen = true;
  private readonly lines = new Map<string, ScorecardLine>();
  private readonly order = new FitTree<ScorecardLine>(ScorecardLine.compare);

  constructor(readonly workspace: string) {}

  static compare(one: WorkspaceLine, other: WorkspaceLine): number {
    return one.share - other.share || one.lastGrant - other.lastGrant || byText(one.workspace, other.workspace);
  }

  get isEmpty(): boolean {
    return this.order.isEmpty;
  }

  get bounds(): Readonly<Bounds> {
    return this.isOpen ? this.order.bounds : NOTHING;
  }

  /** Where it stands now; not while it is in a tree. */
  stand(gates: Gates): void {
    this.share = gates.shareOf(this.workspace);
    this.lastGrant = gates.lastGrantOf(this.workspace);
    this.isOpen = gates.isOpen(this.workspace);
  }

  add(waiter: Waiter, key: LineKey, gates: Gates): void {
    const { scorecard, promotedAt } = key;
    const known = this.lines.get(nameOf(key));
    const line = known ?? new ScorecardLine(scorecard, promotedAt, waiter.arrival);
    line.add(waiter, gates);
    if (known) {
      this.order.refresh(line);
      return;
    }
    line.stand(this.workspace, gates);
    this.lines.set(nameOf(key), line);
    this.order.insert(line);
  }

  remove(waiter: Waiter, key: LineKey): void {
    const line = this.lines.get(nameOf(key));
    if (!line) return;
    line.remove(waiter);
    if (line.isEmpty) {
      this.order.remove(line);
      this.lines.delete(nameOf(key));
    } else this.order.refresh(line);
  }

  /** What that scorecard has in use changed. */
  place(scorecard: string, gates: Gates): void {
    const line = this.lines.get(scorecard);
    if (!line) return;
    this.order.remove(line);
    line.stand(this.workspace, gates);
    this.order.insert(line);
  }

  /** Everything may have changed. */
  placeAll(gates: Gates): void {
    for (const line of this.lines.values()) {
      this.order.remove(line);
      line.stand(this.workspace, gates);
      line.look(gates);
      this.order.insert(line);
    }
  }

  /** That session pool got room, or is full. Whether anyone here needs it. */
  look(sessionPool: string, gates: Gates): boolean {
    let isNeeded = false;
    for (const line of this.lines.values()) {
      if (!line.needs(sessionPool)) continue;
      isNeeded = true;
      line.look(gates);
      this.order.refresh(line);
    }
    return isNeeded;
  }

  isOpenFor(waiter: Waiter, key: LineKey): boolean {
    return this.isOpen && this.lines.get(nameOf(key))?.isOpenFor(waiter) === true;
  }

  find(may: May): Waiter | undefined {
    return this.order.find(may, (line) => line.find(may));
  }

  get newest(): Waiter | undefined {
    let newest: Waiter | undefined;
    for (const line of this.lines.values()) newest = newer(newest, line.newest);
    return newest;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (const line of this.order) yield* line;
  }
}

/** Which line of its workspace a ticket stands in. */
export interface LineKey {
  scorecard: string;
  promotedAt: number;
  holder: string;
}

/** A promoted ticket is a line of its own. */
const nameOf = ({ scorecard, promotedAt, holder }: LineKey): string => (promotedAt === NEVER ? scorecard : holder);

const poolOf = ({ ticket }: Waiter): string => ticket.demand.sessionPool ?? '';

export const newer = (one: Waiter | undefined, other: Waiter | undefined): Waiter | undefined =>
  one && (!other || one.arrival > other.arrival) ? one : other;

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
