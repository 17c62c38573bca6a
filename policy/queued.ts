import type { Demand } from '../contracts/admission.js';
import type { PoolView } from '../contracts/admission-view.js';
import type { Waiting } from '../contracts/waiting.js';

/** A run that has no ticket: its turn to ask has not come, or its request is on its way. */
export interface Ticketless {
  runtimeId: string;
  workspace: string;
  demand: Demand;
  /** Of the workspace, where it has one. */
  quota?: { limit: number; used: number };
  scorecard?: { id: string; isPaused: boolean; concurrency?: number; inFlight: number };
  /** Runs of its scorecard that ask before it. */
  queuedBefore: number;
}

const AXES = [
  ['memory', 'memoryMb'],
  ['cpu', 'cpuMillicores'],
] as const;

/**
 * Why it does not start, the first that applies:
 * 1. its runtime is paused or drains, 2. its scorecard is paused, 3. its workspace is at its quota,
 * 4. its scorecard has as many in flight as it may, 5. its runtime failed too often,
 * 6. memory or CPU that it asks for is in use, 7. slots are.
 * All tickets of the runtime are ahead of it.
 */
export function waitOf(run: Ticketless, { dial, circuit, limits, inUse, waiting }: PoolView): Waiting {
  const { runtimeId, workspace, quota, scorecard, demand } = run;
  const scope = `runtime ${runtimeId}`;
  const ahead = waiting.interactive + waiting.batch + run.queuedBefore;
  const none = { limit: null, used: null, ahead };
  if (dial && dial.mode !== 'open') return { reason: 'paused', scope, ...none };
  if (scorecard?.isPaused) return { reason: 'paused', scope: `scorecard ${scorecard.id}`, ...none };
  if (quota && quota.used >= quota.limit) return { reason: 'quota', scope: `workspace ${workspace}`, ...quota, ahead };
  if (scorecard?.concurrency !== undefined && scorecard.inFlight >= scorecard.concurrency) {
    const { id, concurrency: limit, inFlight: used } = scorecard;
    return { reason: 'slots', scope: `scorecard ${id}`, limit, used, ahead };
  }
  if (circuit && circuit.state !== 'closed') return { reason: 'circuit', scope, ...none };
  for (const [reason, axis] of AXES) {
    const [asked = 0, limit] = [demand[axis], limits[axis]];
    if (asked > 0 && limit !== undefined && inUse[axis] + asked > limit) {
      return { reason, scope, limit, used: inUse[axis], ahead };
    }
  }
  return { reason: 'slots', scope, limit: limits.slots, used: inUse.slots, ahead };
}
