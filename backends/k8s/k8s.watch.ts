import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { AnsweredClock, type ClusterListener } from '../answered-clock.js';
import type { AllocationEvent, AllocationRef, Watch } from '../backend.js';
import type { Patience } from '../cluster.js';
import { LogFollower } from './k8s.follow.js';
import type { Followed } from './k8s.followed.js';
import type { Connected } from './k8s.link.js';
import { JobPlacing } from './k8s.placing.js';
import type { K8sReflector } from './k8s.reflector.js';

/*
 * Following one job. States, and what each says:
 * - suspended, unplaced: no pod on a node. `waiting` with the scheduler's reason, or with what events of the job say where
 *   no pod appears for a while; after the placement patience PLACEMENT_TIMEOUT. What can never be placed fails at once. A
 *   job that is over, or gone, without a pod is ALLOCATION_LOST.
 * - placed: the first pod that was seen on a node, by whichever worker. `placed`; `waiting` if it does not start soon. An
 *   image that cannot be pulled is IMAGE_UNAVAILABLE, or after the patience for such errors IMAGE_PULL_FAILED; a start
 *   that takes too long is START_TIMEOUT.
 * - running: `log` as it is followed; the `record` ends it, whatever becomes of the pod. `overdue` once it has run for
 *   too long.
 * - ended: its container did, or its pod was removed. The rest of its log is read first: `record`, `silent` or `failed`.
 * - gone: Kubernetes knows the pod no more, and `placed` was said of it. RESULT_LOST.
 * Nothing is kept here between two events. A worker that dies leaves the job as it is:
 * - before `placed` was noted: the next one chooses the same pod, as the first by its age,
 * - after it: the next one goes on with the pod that was noted, at the offset up to which output was stored, or at the
 *   mark where the node threw away what lies before,
 * - with the record in hand, and not stored: the job lingers, and the record is read again.
 * Another pod of the same job is removed: nothing of it counts. Patience begins anew with each worker. Where Kubernetes
 * does not answer this throws, and no time passes until it does.
 */

export interface K8sWatch extends Watch, Connected {
  deployment: string;
  reflector: K8sReflector;
  spec: K8sRuntimeSpec;
  patience: Patience;
  allocation: AllocationRef;
}

/** One that is under way. */
export interface Watching extends K8sWatch {
  followed: Followed;
  /** Runs while Kubernetes answers. */
  clock: AnsweredClock;
  /** To be told of what is asked for this job alone. */
  listener: ClusterListener;
  /** Uids of the pods that were removed here. */
  removed: Set<string>;
}

/** Follows a job until its record or its end. */
export async function* watchJob(watch: K8sWatch): AsyncGenerator<AllocationEvent> {
  const { signal, reflector, allocation, reached } = watch;
  if (signal.aborted) return;
  const clock = new AnsweredClock();
  const listener: ClusterListener = {
    answered() {
      clock.answered();
      reached?.();
    },
    failed: () => clock.failed(),
  };
  const followed = reflector.follow(allocation.name, listener);
  try {
    const watching = { ...watch, followed, clock, listener, removed: new Set<string>() };
    const placed = yield* new JobPlacing(watching).begun();
    if (placed) yield* new LogFollower(watching, placed).follow();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    followed.close();
  }
}
