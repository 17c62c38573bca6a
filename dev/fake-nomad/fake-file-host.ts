import type { SeenRequest } from '../fake-http/fake-answer.js';
import { FileRefusal } from './fake-log-files.js';
import { isSince } from './fake-version.js';

/** An allocation as the servers know it, and its files as its client has them. */
export interface HeldAllocation {
  namespace: string;
  nodeId: string;
  tasks: readonly { name: string; isStarted: boolean }[];
  /** Where its client keeps it. */
  directory: string;
  /** Whether its client still does. */
  isKept: boolean;
}

/** What the file routes need of a cluster. */
export interface FileHost {
  /** Of the client: what it says of a collected allocation depends on it. */
  version: string;
  allocation(id: string): HeldAllocation | undefined;
  node(id: string): { isConnected: boolean } | undefined;
  /** Why a token is not taken at all; `undefined` for what is taken, and for none. */
  tokenRefusal(token: string | undefined): string | undefined;
  may(token: string | undefined, namespace: string, capability: 'read-logs' | 'read-fs'): boolean;
}

/** The allocation on its way to a client, or why there is none. */
export function reached(host: FileHost, { token }: SeenRequest, id: string, needs: Parameters<FileHost['may']>[2][]) {
  if (id.length !== 36) throw new FileRefusal(500, 'alloc lookup failed: index error: UUID must be 36 characters');
  const refused = host.tokenRefusal(token);
  if (refused !== undefined) throw new FileRefusal(500, `rpc error: ${refused}`);
  const allocation = host.allocation(id);
  if (!allocation) throw new FileRefusal(404, `Unknown allocation "${id}"`);
  const { namespace, nodeId } = allocation;
  if (!needs.some((capability) => host.may(token, namespace, capability))) {
    throw new FileRefusal(500, 'Permission denied');
  }
  const node = host.node(nodeId);
  if (!node) throw new FileRefusal(400, `Unknown node "${nodeId}"`);
  if (!node.isConnected) throw new FileRefusal(404, 'No path to node');
  return allocation;
}

/** Clients since 1.6.2 say that they know nothing of it; older ones look for its files. */
export const isSaidByName = ({ version }: FileHost): boolean => isSince(version, [1, 6, 2]);
