import type { BackendResolver } from '../backends/resolver.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { ClusterLeftovers } from './cluster-leftovers.js';
import { withHeartbeat } from './heartbeat.js';
import type { Leftovers } from './leftovers.js';

interface Deps {
  backends: Pick<BackendResolver, 'forHost'>;
  leftovers: Pick<Leftovers, 'of'>;
  clusters: Pick<ClusterLeftovers, 'remove'>;
  deployment: string;
}

export type LeftoverActivities = ReturnType<typeof createLeftoverActivities>;

export function createLeftoverActivities({ backends, leftovers, clusters, deployment }: Deps) {
  const removeHere = async (): Promise<number> => {
    const backend = backends.forHost();
    const { allocations } = await backend.list(deployment);
    const names = await leftovers.of(allocations);
    for (const name of names) await backend.stop({ name, nonce: '' });
    return names.length;
  };

  return {
    /**
     * The second look under the names of attempts that are closed: a worker that stood still may have created an
     * allocation after its attempt was closed. For a local runtime it must run on its host. Returns how many it removed.
     */
    removeLeftovers: ({ kind }: { kind: RuntimeKind }): Promise<number> =>
      withHeartbeat(
        () => undefined,
        () => (kind === 'local' ? removeHere() : clusters.remove(kind)),
      ),
  };
}
