import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { AnsweredClock } from '../answered-clock.js';
import type { AllocationEvent, AllocationRef, Watch } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { NomadClient } from './nomad.client.js';
import { LogFollower } from './nomad.follow.js';
import { JobPlacing } from './nomad.placing.js';

/*
 * Following one job. States, and what each says:
 * - unplaced: no allocation. `waiting` while an evaluation is blocked; after the placement patience PLACEMENT_TIMEOUT
 *   or, where no node is in its datacenters, BAD_SPEC. Without a blocked one it is queued, and fails only after the
 *   start patience. A dead job that has no allocation is ALLOCATION_LOST.
 * - placed: the first allocation that was seen, by whichever worker. `placed`; `waiting` if it does not start soon. An
 *   image that cannot be pulled is IMAGE_UNAVAILABLE, or after the patience for such errors IMAGE_PULL_FAILED; a start
 *   that takes too long is START_TIMEOUT.
 * - running: `log` as its streams grow; the `record` ends it, whatever becomes of the allocation. `overdue` once it has
 *   run for too long.
 * - ended: its status is read first, then the rest of its log: `record`, `silent` or `failed`.
 * - gone: Nomad knows the allocation no more, and `placed` was said of it. RESULT_LOST.
 * Nothing is kept here between two events. A worker that dies leaves the job as it is:
 * - before `placed` was noted: the next one chooses the same allocation, as the first by its index,
 * - after it: the next one goes on with the allocation that was noted, at the offsets up to which output was stored,
 * - with the record in hand, and not stored: the job lingers, and the record is read again.
 * Patience begins anew with each worker. Where Nomad does not answer this throws, and no time passes until it does.
 */

export interface NomadWatch extends Watch {
  client: NomadClient;
  spec: NomadRuntimeSpec;
  patience: Patience;
  allocation: AllocationRef;
}

/** One that is under way. */
export interface Watching extends NomadWatch {
  /** Runs while Nomad answers, and is told of what it answers. */
  clock: AnsweredClock;
  /** Between two looks: with many jobs, longer. */
  pace(): number;
}

const SHORTEST_PACE_MS = 250;
const PACE_MS_A_JOB = 4;

/** Follows a job until its record or its end. */
export async function* watchJob(watch: NomadWatch): AsyncGenerator<AllocationEvent> {
  const { signal } = watch;
  if (signal.aborted) return;
  const { budget } = watch.client;
  const pace = (): number => Math.max(SHORTEST_PACE_MS, budget.watched * PACE_MS_A_JOB) * (0.8 + 0.4 * Math.random());
  const watching = { ...watch, clock: new AnsweredClock(), pace };
  budget.watched += 1;
  try {
    const placed = yield* new JobPlacing(watching).begun();
    if (placed) yield* new LogFollower(watching, placed).follow();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    budget.watched -= 1;
  }
}
