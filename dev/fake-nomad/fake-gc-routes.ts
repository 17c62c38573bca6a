import type { Answer } from '../fake-http/fake-answer.js';
import type { FakeCluster } from './fake-cluster.js';
import type { Route } from './fake-routes.js';

const DONE: Answer = { status: 200, body: '', headers: { 'content-type': 'text/plain' } };

/** What an operator lets go of. */
export function gcRoutes(cluster: FakeCluster): Route[] {
  const { gc } = cluster.clients;
  const access = 'management';
  return [
    {
      ...{ method: 'GET', pattern: '/v1/client/allocation/:id/gc', access },
      handle: ({ id }) =>
        gc.collect(id)
          ? DONE
          : { status: 501, body: `the fake does not know how ${id} is collected: it has not ended` },
    },
    {
      ...{ method: 'GET', pattern: '/v1/client/gc', access },
      handle: () => {
        gc.collectAll();
        return DONE;
      },
    },
    {
      ...{ method: 'PUT', pattern: '/v1/system/gc', access },
      handle: () => {
        cluster.collectSystem();
        return DONE;
      },
    },
  ];
}
