import type { BackendResolver } from '../backends/resolver.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { leftoversOf } from '../policy/sweep.js';
import type { SweepStore } from '../store/sweep.store.js';
import { withHeartbeat } from './heartbeat.js';

interface Deps {
  backends: Pick<BackendResolver, 'forHost'>;
  sweep: Pick<SweepStore, 'openAllocations'>;
  deployment: string;
  /** How old an allocation must be. */
  graceMs: number;
}

export type LeftoverActivities = ReturnType<typeof createLeftoverActivities>;

/** Allocations that one call looks up, and removes at most. */
const BATCH = 200;

export function createLeftoverActivities({ backends, sweep, deployment, graceMs }: Deps) {
  return {
    /**
     * The second look under the names of attempts that are closed: a worker that stood still may have created an
     * allocation after its attempt was closed. For a local runtime it must run on its host. Returns how many it removed.
     */
    removeLeftovers: (_: { kind: RuntimeKind }): Promise<number> =>
      withHeartbeat(
        () => undefined,
        async () => {
          const backend = backends.forHost();
          const allocations = await backend.list(deployment);
          const leftovers: string[] = [];
          for (let start = 0; start < allocations.length && leftovers.length < BATCH; start += BATCH) {
            const part = allocations.slice(start, start + BATCH);
            const open = await sweep.openAllocations(part.map(({ name }) => name));
            leftovers.push(...leftoversOf(part, open, { now: Date.now(), graceMs }));
          }
          for (const name of leftovers) await backend.stop({ name, nonce: '' });
          return leftovers.length;
        },
      ),
  };
}
