import { z } from 'zod';
import type { Inspection, ProbeAnswer } from '../../contracts/inspection.js';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { groupBy } from '../../policy/grouping.js';
import { isAllocationOf } from '../../policy/naming.js';
import { sumOf } from '../cluster-amounts.js';
import { type ClusterClient, ClusterFailure } from '../cluster-client.js';
import type { ClusterCall } from '../cluster-http.js';
import { oneLine } from '../cluster-text.js';
import { permissionsOf } from './nomad.acl.js';
import type { NomadClient } from './nomad.client.js';
import { NomadRefusal, tooMany } from './nomad.failures.js';
import { inspectedNode, isLive, missingDatacenters, placementWarnings } from './nomad.nodes.js';
import {
  AclPolicy,
  AclToken,
  AgentSelf,
  type Allocation,
  Allocations,
  Namespace,
  type Node,
  Nodes,
} from './nomad.replies.js';

/** Nodes that an inspection names; it counts all of them. */
const SHOWN_NODES = 200;
const PER_PAGE = 500;
/** Of one list. */
const MOST_FOUND = 20_000;
/** Of all answers for one inspection. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_POLICIES = 20;

/** What an agent says of itself, or the token where the token may not read that. */
interface Met {
  self?: AgentSelf;
  token?: AclToken;
}

type Look = Pick<ClusterCall, 'signal' | 'budget'>;
type Attempt = <Found>(what: string, read: () => Promise<Found>) => Promise<Found | undefined>;

/** Looks at a Nomad cluster. */
export class NomadCluster implements ClusterClient {
  constructor(
    private readonly spec: NomadRuntimeSpec,
    private readonly client: NomadClient,
    private readonly deployment: string,
  ) {}

  async probe(signal: AbortSignal): Promise<ProbeAnswer> {
    try {
      const met = await this.meet({ signal });
      return { reachable: true, detail: [describe(met), ...(await this.doubts({ signal }))].join('; ') };
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return { reachable: false, detail: error.message, reason: error.reason };
    }
  }

  /** What of the spec the cluster does not have. What it does not tell is no doubt. */
  private async doubts(look: Look): Promise<string[]> {
    const { namespace, datacenters } = this.spec;
    const asked = async (read: () => Promise<string[]>): Promise<string[]> => {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ClusterFailure)) throw error;
        return [];
      }
    };
    const found = await Promise.all([
      asked(async () =>
        namespace === undefined || (await this.hasNamespace(namespace, look)) ? [] : [noNamespace(namespace)],
      ),
      asked(async () => {
        if (datacenters.includes('*')) return [];
        return missingDatacenters(this.spec, await this.all('/v1/nodes', Nodes, {}, look));
      }),
    ]);
    return found.flat();
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const look: Look = { signal, budget: { left: MOST_BYTES } };
    const met = await this.meet(look);
    const warnings: string[] = met.self ? [] : ['its version is not known: the ACL token lacks agent:read'];
    const attempt: Attempt = async (what, read) => {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ClusterFailure)) throw error;
        warnings.push(`${what}: ${error.message}`);
        return undefined;
      }
    };
    const name = this.spec.namespace ?? 'default';
    const [nodes, allocations, exists, permissions] = await Promise.all([
      attempt('nodes', () => this.all('/v1/nodes', Nodes, { resources: 'true' }, look)),
      attempt('allocations', () => this.liveAllocations(look)),
      attempt('namespace', () => this.hasNamespace(name, look)),
      attempt('permissions', () => this.permissions(met, name, look)),
    ]);
    if (exists === false) warnings.push(noNamespace(name));
    if (nodes) warnings.push(...placementWarnings(this.spec, nodes));
    const lacking = permissions?.filter(({ allowed }) => !allowed).map(({ action }) => action) ?? [];
    if (lacking.length > 0) warnings.push(`the ACL token lacks ${lacking.join(', ')} in namespace ${name}`);
    return {
      kind: 'nomad',
      cluster: `Nomad ${met.self ? versionOf(met.self) : ''}`.trim(),
      ...(nodes && nodesPart(nodes, allocations)),
      ...(allocations && { running: allocations.length, ours: this.countOurs(allocations) }),
      ...(exists !== undefined && { namespace: { name, exists } }),
      ...(permissions && { permissions }),
      warnings,
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /**
   * A token may be good for jobs and not for the agent: then it is asked for itself. An agent answers for itself whatever
   * the region: that is asked of servers.
   */
  private async meet(look: Look): Promise<Met> {
    if (this.spec.region !== undefined) await this.client.get('/v1/status/leader', z.string(), look);
    try {
      return { self: await this.client.get('/v1/agent/self', AgentSelf, look) };
    } catch (refusal) {
      if (!(refusal instanceof NomadRefusal && refusal.status === 403 && this.client.hasToken)) throw refusal;
      const token = await this.token(look).catch(() => undefined);
      if (!token) throw refusal;
      return { token };
    }
  }

  /** An expired token is still told of itself. */
  private async token(look: Look): Promise<AclToken> {
    const token = await this.client.get('/v1/acl/token/self', AclToken, look);
    const until = Date.parse(token.ExpirationTime ?? '');
    if (until < Date.now()) throw new NomadRefusal({ status: 200, text: '' }, 'auth', 'its ACL token has expired');
    return token;
  }

  private async permissions({ self, token }: Met, namespace: string, look: Look) {
    if (!this.client.hasToken || self?.config?.ACL?.Enabled === false) return undefined;
    const known = token ?? (await this.token(look));
    if (known.Roles.length > 0) {
      throw new ClusterFailure('error', 'the ACL token has roles, and what those allow is not looked up');
    }
    const names = known.Policies.slice(0, MOST_POLICIES);
    const read = (name: string) => this.client.get(`/v1/acl/policy/${encodeURIComponent(name)}`, AclPolicy, look);
    return permissionsOf(known, await Promise.all(names.map(read)), namespace);
  }

  private async liveAllocations(look: Look) {
    const query = { resources: 'true', namespace: '*' };
    return (await this.all('/v1/allocations', Allocations, query, look)).filter(isLive);
  }

  private countOurs(allocations: readonly Allocation[]): number {
    return allocations.filter(({ JobID }) => isAllocationOf(this.deployment, JobID ?? '')).length;
  }

  private async hasNamespace(name: string, look: Look): Promise<boolean> {
    try {
      await this.client.get(`/v1/namespace/${encodeURIComponent(name)}`, Namespace, look);
      return true;
    } catch (error) {
      if (error instanceof NomadRefusal && error.status === 404) return false;
      throw error;
    }
  }

  /** Every page of a list. */
  private async all<Item>(
    path: string,
    shape: z.ZodType<Item[]>,
    query: Record<string, string>,
    look: Look,
  ): Promise<Item[]> {
    const found: Item[] = [];
    let next: string | undefined;
    for (;;) {
      const page = await this.client.page(path, shape, {
        ...look,
        query: { ...query, per_page: PER_PAGE, next_token: next },
      });
      for (const item of page.reply) found.push(item);
      if (found.length > MOST_FOUND) throw tooMany(MOST_FOUND);
      if (page.next === undefined) return found;
      if (page.reply.length === 0) throw tooMany(found.length);
      next = page.next;
    }
  }
}

/** Of an agent; empty where it says none. */
const noNamespace = (name: string): string => `there is no namespace ${name}, or the credential may not see it`;

export const versionOf = ({ config, member }: AgentSelf): string => {
  const version = config?.Version?.Version ?? member?.Tags?.build ?? '';
  return /^\d[\w.+-]{0,40}$/.test(version) ? version : '';
};

function describe({ self }: Met): string {
  if (!self) return 'Nomad takes the ACL token, which may not read the agent';
  const agent = oneLine(self.member?.Name ?? '');
  return [`Nomad ${versionOf(self)}`.trim(), agent && `agent ${agent}`].filter(Boolean).join(', ');
}

function nodesPart(nodes: readonly Node[], allocations: readonly Allocation[] | undefined) {
  const byNode = groupBy(allocations ?? [], ({ NodeID }) => NodeID);
  const inspected = nodes.map((node) => inspectedNode(node, allocations && (byNode.get(node.ID) ?? [])));
  const open = inspected.filter(({ schedulable }) => schedulable);
  return {
    nodes: inspected.slice(0, SHOWN_NODES),
    ...(inspected.length > SHOWN_NODES && { nodeCount: inspected.length }),
    capacity: sumOf(open.map(({ capacity }) => capacity)),
    ...(allocations && { allocated: sumOf(inspected.map(({ allocated }) => allocated ?? {})) }),
    datacenters: [...new Set(nodes.map(({ Datacenter }) => oneLine(Datacenter)))].sort(),
  };
}
