import { Context, cancellationSignal } from '@temporalio/activity';
import type { SessionEndpoints } from '../backends/session-endpoints.js';
import type { SessionRead } from '../contracts/admission.js';
import type { WatchedPool } from '../policy/admission/session-pools.js';
import type { SessionPoolStore } from '../store/session-pool.store.js';
import { withHeartbeat } from './heartbeat.js';
import { serverClock } from './server-clock.js';
import { SessionWatch } from './session-watch.js';

interface Deps {
  sessions: Pick<SessionPoolStore, 'endpoints'>;
  endpoints: Pick<SessionEndpoints, 'read'>;
}

export interface SessionWatchRequest {
  /** Of the runtime. */
  poolId: string;
  pools: WatchedPool[];
  /** How long nothing new may be heard. */
  patienceMs: number;
}

export type SessionActivities = ReturnType<typeof createSessionActivities>;

export function createSessionActivities({ sessions, endpoints }: Deps) {
  return {
    /** Comes back once a session pool says something new, or patience ends, with what each said last. */
    watchSessionPools: ({ poolId, pools, patienceMs }: SessionWatchRequest): Promise<{ reads: SessionRead[] }> =>
      withHeartbeat(
        () => undefined,
        async () => {
          const watch = new SessionWatch((url) => endpoints.read(url), serverClock(Context.current().info));
          const names = pools.map(({ pool }) => pool);
          const found = await sessions.endpoints(poolId, names);
          const watched = pools.map((each) => ({ ...each, endpoint: found.get(each.pool) }));
          return { reads: await watch.next(watched, patienceMs, cancellationSignal()) };
        },
      ),
  };
}
