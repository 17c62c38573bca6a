import type { AclGate } from './fake-acl.js';
import type { FakeCluster } from './fake-cluster.js';
import type { FileHost } from './fake-file-host.js';
import { FILE_VERBS, filesAnswer } from './fake-files.js';
import { logsAnswer } from './fake-logs.js';
import type { Route } from './fake-routes.js';

/** Files of allocations, which each route guards for itself. */
export function fileRoutes(host: FileHost): Route[] {
  // Nomad streams files, too: how it answers then is not known here.
  const noVerb = '/v1/client/fs/(?!stream/).*';
  return [
    {
      ...{ method: 'GET', pattern: '/v1/client/fs/logs/:id', access: 'open' },
      handle: (call) => logsAnswer(host, call, call.id),
    },
    { method: 'GET', pattern: '/v1/client/fs/logs/', access: 'open', handle: (call) => logsAnswer(host, call, '') },
    ...FILE_VERBS.map((verb): Route => {
      const pattern = `/v1/client/fs/${verb}/:id`;
      return { method: 'GET', pattern, access: 'open', handle: (call) => filesAnswer(host, call, verb, call.id) };
    }),
    { method: 'GET', pattern: noVerb, access: 'open', handle: (call) => filesAnswer(host, call, '', '') },
  ];
}

export function fileHost({ state, clients, nodes }: FakeCluster, gate: AclGate, version: string): FileHost {
  return {
    version,
    node: (id) => nodes.get(id),
    tokenRefusal: (token) => gate.clientRefusal(token),
    may: (token, namespace, capability) => gate.may(token, namespace, capability),
    allocation(id) {
      const allocation = state.allocations.get(id);
      if (!allocation) return undefined;
      const run = clients.runs.get(id);
      return {
        namespace: allocation.Namespace,
        nodeId: allocation.NodeID,
        tasks: allocation.group.Tasks.map(({ Name }) => {
          const isStarted = Boolean(allocation.TaskStates?.[Name]?.StartedAt);
          return { name: Name, isStarted };
        }),
        directory: clients.directoryOf(id),
        isKept: run?.isKept ?? false,
      };
    },
  };
}
