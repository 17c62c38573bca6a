import type { Demand, Lease } from '../../contracts/admission.js';
import { add, less, type Use, useOf } from './room.js';

/** Grants that may go past a ticket that does not fit; after so many, room is kept for it. */
export const MAX_PASSES = 16;

/** Room that is kept for one ticket. */
export interface Reservation {
  holder: string;
  /** Epoch ms. */
  since: number;
  /** When it can start if leases end as expected, epoch ms; absent where too many durations are not known. */
  startBy?: number;
  passes: number;
}

/** What a pool keeps room for, and how often each ticket was passed. */
export class Reservations {
  private readonly passed: Map<string, number>;

  constructor(
    passed: Iterable<readonly [string, number]> = [],
    private reserved?: Reservation,
  ) {
    this.passed = new Map(passed);
  }

  get held(): Reservation | undefined {
    return this.reserved;
  }

  get passes(): ReadonlyMap<string, number> {
    return this.passed;
  }

  /** Whether it has been passed often enough. */
  pass(holder: string): boolean {
    const passes = (this.passed.get(holder) ?? 0) + 1;
    this.passed.set(holder, passes);
    return passes >= MAX_PASSES;
  }

  reserve(holder: string, since: number, startBy: number | undefined): Reservation {
    const passes = this.passed.get(holder) ?? 0;
    this.reserved = { holder, since, passes, ...(startBy !== undefined && { startBy }) };
    return this.reserved;
  }

  /** It cannot start now for another reason than room. It gets a reservation again once it is passed again. */
  suspend(): void {
    this.reserved = undefined;
  }

  /** It waits no more. */
  forget(holder: string): void {
    this.passed.delete(holder);
    if (this.reserved?.holder === holder) this.reserved = undefined;
  }
}

/** What others may take: on every axis that the ticket declares what is free beyond its demand, and all slots but one. */
export const beside = (room: Use, demand: Demand): Use => less(room, useOf(demand));

/** When the demand fits if every lease ends as expected; one that is overdue may end any time. */
export function startBy(demand: Demand, room: Use, leases: Iterable<Lease>, now: number): number | undefined {
  const free = { ...room };
  const fits = (): boolean =>
    free.slots >= 1 &&
    (demand.memoryMb === undefined || demand.memoryMb <= free.memoryMb) &&
    (demand.cpuMillicores === undefined || demand.cpuMillicores <= free.cpuMillicores);
  const ends = [...leases]
    .flatMap((lease) => (lease.expectedMs === undefined ? [] : { lease, at: lease.grantedAt + lease.expectedMs }))
    .sort((one, other) => one.at - other.at);
  for (const { lease, at } of ends) {
    add(free, lease.demand, 1);
    if (fits()) return Math.max(at, now);
  }
  return undefined;
}
