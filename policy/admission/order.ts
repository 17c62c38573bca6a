import type { Ticket, WorkClass } from '../../contracts/admission.js';
import { FitTree, type May, NOTHING } from './fit-tree.js';
import { type Gates, type LineKey, newer, type Waiter, WorkspaceLine } from './lines.js';
import { boundsOf, isKnown, NEVER } from './room.js';
import type { SessionPools } from './session-pools.js';
import { scorecardOf } from './shares.js';

/** Where tickets stand: workspaces within a class, scorecards within a workspace, arrival within a scorecard. */
export class Order {
  private readonly waiters = new Map<string, Waiter>();
  private readonly counts = new Map<string, number>();
  private readonly lanes: Record<WorkClass, Lane> = { interactive: new Lane(), batch: new Lane() };
  private arrived = 0;

  constructor(
    private readonly gates: Gates,
    private readonly sessions: Pick<SessionPools, 'wait'>,
  ) {}

  get size(): number {
    return this.waiters.size;
  }

  get(holder: string): Waiter | undefined {
    return this.waiters.get(holder);
  }

  /**
   * A holder that waits already keeps its place in the order of arrival, and stays promoted. Whether anything but who is
   * told changed.
   */
  put(ticket: Ticket): boolean {
    const known = this.waiters.get(ticket.holder);
    const promotedAt = known?.ticket.promotedAt ?? ticket.promotedAt;
    const waiting = promotedAt === undefined ? ticket : { ...ticket, promotedAt };
    if (known && isSame(known.ticket, waiting)) {
      known.ticket = waiting;
      return false;
    }
    if (known) this.remove(ticket.holder);
    this.arrived += 1;
    const waiter = { ticket: waiting, arrival: known?.arrival ?? this.arrived, bounds: boundsOf(ticket) };
    this.waiters.set(ticket.holder, waiter);
    this.counts.set(ticket.workspace, this.countOf(ticket.workspace) + 1);
    this.sessions.wait(waiting, 1);
    this.lanes[waiting.class].add(waiter, this.gates);
    return true;
  }

  remove(holder: string): Waiter | undefined {
    const waiter = this.waiters.get(holder);
    if (!waiter) return undefined;
    const { workspace } = waiter.ticket;
    this.waiters.delete(holder);
    this.sessions.wait(waiter.ticket, -1);
    this.lanes[waiter.ticket.class].remove(waiter);
    const left = this.countOf(workspace) - 1;
    if (left > 0) this.counts.set(workspace, left);
    else this.counts.delete(workspace);
    return waiter;
  }

  /** What the workspace and its scorecard have in use, or whether the workspace may be granted more, changed. */
  place(workspace: string, scorecard: string): void {
    for (const lane of Object.values(this.lanes)) lane.place(workspace, scorecard, this.gates);
  }

  placeAll(): void {
    for (const lane of Object.values(this.lanes)) lane.placeAll(this.gates);
  }

  /** That session pool got room, or is full. */
  look(sessionPool: string): void {
    for (const lane of Object.values(this.lanes)) lane.look(sessionPool, this.gates);
  }

  /** Whether it may be granted anything now, as far as it is not a matter of room. */
  isOpenFor(waiter: Waiter): boolean {
    return this.lanes[waiter.ticket.class].isOpenFor(waiter);
  }

  /** The first in order, of those that may be granted anything. */
  find(work: WorkClass, may: May): Waiter | undefined {
    return this.lanes[work].find(may);
  }

  /** Whether anyone of that class may be granted anything now. */
  hasOpen(work: WorkClass): boolean {
    return this.lanes[work].hasOpen;
  }

  countOf(workspace: string): number {
    return this.counts.get(workspace) ?? 0;
  }

  /** The newest ticket of the workspace with the most, if that has more than this one will have. */
  newestAbove(workspace: string): Waiter | undefined {
    let most = workspace;
    for (const [other, count] of this.counts) {
      if (count > this.countOf(most) || (count === this.countOf(most) && other < most)) most = other;
    }
    if (this.countOf(most) <= this.countOf(workspace) + 1) return undefined;
    return newer(this.lanes.interactive.newestOf(most), this.lanes.batch.newestOf(most));
  }

  /** Of that class, also those that may be granted nothing now. */
  of(work: WorkClass): Iterable<Waiter> {
    return this.lanes[work];
  }

  byArrival(): Waiter[] {
    return [...this.waiters.values()].sort((one, other) => one.arrival - other.arrival);
  }
}

/** Tickets of one class. */
class Lane {
  private readonly lines = new Map<string, WorkspaceLine>();
  private readonly order = new FitTree<WorkspaceLine>(WorkspaceLine.compare);

  add(waiter: Waiter, gates: Gates): void {
    const { workspace } = waiter.ticket;
    const known = this.lines.get(workspace);
    const line = known ?? new WorkspaceLine(workspace);
    line.add(waiter, keyOf(waiter), gates);
    if (known) {
      this.order.refresh(line);
      return;
    }
    line.stand(gates);
    this.lines.set(workspace, line);
    this.order.insert(line);
  }

  remove(waiter: Waiter): void {
    const { workspace } = waiter.ticket;
    const line = this.lines.get(workspace);
    if (!line) return;
    line.remove(waiter, keyOf(waiter));
    if (line.isEmpty) {
      this.order.remove(line);
      this.lines.delete(workspace);
    } else this.order.refresh(line);
  }

  place(workspace: string, scorecard: string, gates: Gates): void {
    const line = this.lines.get(workspace);
    if (!line) return;
    this.order.remove(line);
    line.place(scorecard, gates);
    line.stand(gates);
    this.order.insert(line);
  }

  placeAll(gates: Gates): void {
    for (const line of this.lines.values()) {
      this.order.remove(line);
      line.placeAll(gates);
      line.stand(gates);
      this.order.insert(line);
    }
  }

  look(sessionPool: string, gates: Gates): void {
    for (const line of this.lines.values()) if (line.look(sessionPool, gates)) this.order.refresh(line);
  }

  isOpenFor(waiter: Waiter): boolean {
    return this.lines.get(waiter.ticket.workspace)?.isOpenFor(waiter, keyOf(waiter)) === true;
  }

  find(may: May): Waiter | undefined {
    return this.order.find(may, (line) => line.find(may));
  }

  get hasOpen(): boolean {
    return this.order.bounds.askedAt < NOTHING.askedAt;
  }

  newestOf(workspace: string): Waiter | undefined {
    return this.lines.get(workspace)?.newest;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (const line of this.order) yield* line;
  }
}

const keyOf = ({ ticket }: Waiter): LineKey => ({
  scorecard: isKnown(ticket) ? scorecardOf(ticket.holder) : '',
  promotedAt: ticket.promotedAt ?? NEVER,
  holder: ticket.holder,
});

/** Whether both stand in the same place and ask for the same. */
const isSame = (one: Ticket, other: Ticket): boolean =>
  one.workspace === other.workspace &&
  one.class === other.class &&
  one.askedAt === other.askedAt &&
  one.promotedAt === other.promotedAt &&
  one.expectedMs === other.expectedMs &&
  one.demand.memoryMb === other.demand.memoryMb &&
  one.demand.cpuMillicores === other.demand.cpuMillicores &&
  one.demand.sessionPool === other.demand.sessionPool;
