import { quantileOf } from '../quantiles.js';
import type { Course, Load } from './load.js';
import { Rehearsal } from './rehearsal.js';
import type { Use } from './room.js';

export interface Question {
  seed: number;
  /** Only when what waits now starts, not how all of it ends. */
  isTicketsOnly?: boolean;
  /** At most so many. */
  replications?: number;
}

export interface Simulated {
  courses: readonly Course[];
  /** So many cases of a backlog were taken to follow each other in one slot, to spare work; 1: each for itself. */
  together: number;
}

/** Milliseconds; null: never, as far as is known. */
export interface Spread {
  p50: number | null;
  p90: number | null;
}

const MOST_REPLICATIONS = 30;
const FEWEST_REPLICATIONS = 3;
/** Cases of backlogs that one replication starts one by one. */
const MOST_ALONE = 10_000;
/** Starts of all replications: what bounds the time it takes. */
const MOST_STARTS = 30_000;

/** Possible futures of a pool, the same for the same seed. Pauses now and then, for whoever has more to do. */
export function* simulate(
  load: Load,
  { seed, isTicketsOnly = false, replications: most = MOST_REPLICATIONS }: Question,
): Generator<void, Simulated> {
  const queued = isTicketsOnly ? 0 : load.backlogs.reduce((sum, { count }) => sum + count, 0);
  const together = Math.max(1, Math.ceil(queued / MOST_ALONE));
  const starts = load.tickets.length + queued / together;
  const affordable = Math.floor(MOST_STARTS / Math.max(1, starts));
  const replications = Math.min(most, Math.max(FEWEST_REPLICATIONS, affordable));
  const courses: Course[] = [];
  for (let i = 0; i < replications; i += 1) {
    courses.push(yield* new Rehearsal(load, { seed, together, isTicketsOnly }, i).play());
    yield;
  }
  return { courses, together };
}

/** The result of what pauses, without a pause. */
export function unpaused<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export function spreadOf(values: Iterable<number>): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (p: number): number | null => {
    const value = quantileOf(sorted, p);
    return value !== undefined && Number.isFinite(value) ? Math.round(value) : null;
  };
  return { p50: at(0.5), p90: at(0.9) };
}

/** When a ticket of the beginning starts, from now. */
export const startOf = ({ courses }: Simulated, holder: string): Spread =>
  spreadOf(courses.map(({ starts }) => starts.get(holder) ?? Number.POSITIVE_INFINITY));

/** The most that was ever in use. */
export function peakOf({ courses }: Simulated): Use {
  const most = (axis: keyof Use): number => courses.reduce((peak, course) => Math.max(peak, course.peak[axis]), 0);
  return { slots: most('slots'), memoryMb: most('memoryMb'), cpuMillicores: most('cpuMillicores') };
}

/** Waits of all cases of all futures, by workspace as `nameOf` calls it, the most first. */
export function waitsBy(
  { courses }: Simulated,
  nameOf: (workspace: string) => string,
): { workspace: string; cases: number; wait: Spread }[] {
  const waits = new Map<string, number[]>();
  for (const { fates } of courses) {
    for (const { workspace, waitsMs } of fates.values()) {
      const name = nameOf(workspace);
      const known = waits.get(name) ?? [];
      for (const ms of waitsMs) known.push(ms);
      waits.set(name, known);
    }
  }
  return [...waits]
    .filter(([, all]) => all.length > 0)
    .map(([workspace, all]) => ({
      workspace,
      cases: Math.round(all.length / courses.length),
      wait: spreadOf(all),
    }))
    .sort((a, b) => b.cases - a.cases || (a.workspace < b.workspace ? -1 : 1));
}
