import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import type { Inspection } from '../../contracts/inspection.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { sumOf } from '../cluster-amounts.js';
import { ClusterFailure } from '../cluster-client.js';
import { oneLine } from '../cluster-text.js';
import type { K8sClient, Look } from './k8s.client.js';
import { K8sRefusal, refusalOf, unreadableFailure } from './k8s.failures.js';
import { isOver } from './k8s.gone.js';
import { selectorOf } from './k8s.labels.js';
import { inspectedNode, placementWarnings } from './k8s.nodes.js';
import { jobsPath } from './k8s.paths.js';
import { parseQuantity } from './k8s.quantity.js';
import { K8sJob, LimitRange, ListPage, Named, Node, Quota } from './k8s.replies.js';
import { isAllowed, JOB_RIGHTS, NETWORK_RIGHTS, type Right, rightText } from './k8s.rights.js';

const PER_PAGE = 100;
/** As many nodes as Kubernetes supports. */
const MOST_ITEMS = 5_000;
/** Nodes that an inspection names; it counts all of them. */
const SHOWN_NODES = 200;
const MOST_QUOTAS = 500;
const MOST_NAMED = 5;

interface Permission {
  action: string;
  allowed: boolean;
}

/** Looks through one namespace of a cluster, and at its nodes. What cannot be read is a warning. */
export class K8sInspector {
  private readonly warnings: string[] = [];

  constructor(
    private readonly spec: K8sRuntimeSpec,
    private readonly deployment: string,
    private readonly namespace: string,
    private readonly client: K8sClient,
    private readonly look: Look,
  ) {
    // More reads than Node expects to wait for one signal.
    setMaxListeners(0, look.signal);
  }

  async inspect(): Promise<Omit<Inspection, 'kind' | 'cluster'>> {
    const { runtimeClass } = this.spec;
    const home = `/api/v1/namespaces/${encodeURIComponent(this.namespace)}`;
    const classPath = `/apis/node.k8s.io/v1/runtimeclasses/${encodeURIComponent(runtimeClass ?? '')}`;
    const [nodes, hasNamespace, hasClass, quotas, limits, permissions, ours] = await Promise.all([
      this.attempt('nodes', () => this.all('/api/v1/nodes', Node)),
      this.attempt('namespace', () => this.exists(home)),
      runtimeClass === undefined ? undefined : this.attempt('runtimeClass', () => this.exists(classPath)),
      this.attempt('quotas', () => this.all(`${home}/resourcequotas`, Quota)),
      this.attempt('limits', () => this.all(`${home}/limitranges`, LimitRange)),
      this.attempt('permissions', () => this.permissions()),
      this.attempt('jobs', () => this.ownJobs()),
    ]);
    if (hasNamespace === false) this.warnings.push(`there is no namespace ${this.namespace}`);
    if (hasClass === false) this.warnings.push(`there is no runtime class ${runtimeClass}`);
    const lines = quotas?.flatMap(quotaLines) ?? [];
    this.warnings.push(...lines.filter(isUsedUp).map(usedUpText));
    return {
      ...(nodes && this.nodesPart(nodes)),
      ...(hasNamespace !== undefined && { namespace: { name: this.namespace, exists: hasNamespace } }),
      ...(runtimeClass !== undefined &&
        hasClass !== undefined && { runtimeClass: { name: runtimeClass, exists: hasClass } }),
      ...(quotas && { quotas: lines.slice(0, MOST_QUOTAS) }),
      ...(limits && { limits: limits.flatMap(limitLines).slice(0, MOST_QUOTAS) }),
      ...(permissions && { permissions }),
      ...(ours !== undefined && { ours }),
      warnings: this.warnings,
    };
  }

  private async attempt<Found>(what: string, read: () => Promise<Found>): Promise<Found | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      this.warnings.push(`${what}: ${error.message}`);
      return undefined;
    }
  }

  private async read<Shape extends z.ZodType>(path: string, shape: Shape, query = {}): Promise<z.infer<Shape>> {
    const reply = await this.client.ask('GET', path, { ...this.look, query });
    if (reply.status !== 200) throw refusalOf(reply);
    const parsed = shape.safeParse(reply.body);
    if (!parsed.success) throw unreadableFailure();
    return parsed.data;
  }

  private async exists(path: string): Promise<boolean> {
    try {
      await this.read(path, Named);
      return true;
    } catch (error) {
      if (error instanceof K8sRefusal && error.status === 404) return false;
      throw error;
    }
  }

  /** Every page of a list, or the first ones with a warning. One that expires while it is read is begun anew, once. */
  private async all<Item>(path: string, shape: z.ZodType<Item>, query = {}, mayBeginAnew = true): Promise<Item[]> {
    const found: Item[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      try {
        const page: Page<Item> = await this.page(path, shape, { ...query, ...(next && { continue: next }) });
        for (const item of page.items) found.push(item);
        next = page.next;
        if (found.length >= MOST_ITEMS && next !== undefined) throw new ClusterFailure('error', 'there are more');
      } catch (error) {
        const isExpired = error instanceof K8sRefusal && error.status === 410;
        if (isExpired && mayBeginAnew) return this.all(path, shape, query, false);
        if (found.length === 0 || !(error instanceof ClusterFailure)) throw error;
        this.warnings.push(`only the first ${found.length} of ${path.split('/').at(-1)} were read: ${error.message}`);
        return found;
      }
    }
    return found;
  }

  private async page<Item>(path: string, shape: z.ZodType<Item>, query: object): Promise<Page<Item>> {
    const page = await this.read(path, ListPage, { limit: PER_PAGE, ...query });
    if (page.items.length > MOST_ITEMS) throw unreadableFailure();
    const items = z.array(shape).safeParse(page.items);
    if (!items.success) throw unreadableFailure();
    return { items: items.data, next: page.metadata.continue || undefined };
  }

  /** How many of this deployment are not over. */
  private async ownJobs(): Promise<number> {
    const query = { labelSelector: selectorOf(this.deployment) };
    const jobs = (await this.all(jobsPath(this.namespace), K8sJob, query)).filter((job) => !isOver(job));
    const suspended = jobs.filter(({ spec }) => spec.suspend);
    if (suspended.length > 0) {
      this.warnings.push(
        `jobs of ours that are suspended (${suspended.length}): ${suspended.slice(0, MOST_NAMED).map(nameOf).join(', ')}`,
      );
    }
    return jobs.length;
  }

  private async permissions(): Promise<Permission[]> {
    const ask = async (right: Right): Promise<Permission> => {
      const allowed = await isAllowed(this.client, this.namespace, right, this.look);
      return { action: rightText(right), allowed };
    };
    const [job, network] = await Promise.all([Promise.all(JOB_RIGHTS.map(ask)), Promise.all(NETWORK_RIGHTS.map(ask))]);
    this.warnOfMissing(job, 'to run jobs');
    this.warnOfMissing(network, 'to run cases without network');
    return [...job, ...network];
  }

  private warnOfMissing(permissions: readonly Permission[], purpose: string): void {
    const missing = permissions.filter(({ allowed }) => !allowed).map(({ action }) => action);
    if (missing.length === 0) return;
    this.warnings.push(`${purpose} in namespace ${this.namespace}, the account lacks: ${missing.join(', ')}`);
  }

  private nodesPart(found: readonly Node[]): Pick<Inspection, 'nodes' | 'nodeCount' | 'capacity' | 'allocatable'> {
    const nodes = found.map((node) => inspectedNode(node, this.spec));
    this.warnings.push(...placementWarnings(nodes, this.spec));
    const open = nodes.filter(({ schedulable }) => schedulable);
    return {
      nodes: nodes.slice(0, SHOWN_NODES),
      ...(nodes.length > SHOWN_NODES && { nodeCount: nodes.length }),
      capacity: sumOf(open.map(({ capacity }) => capacity)),
      allocatable: sumOf(open.map(({ allocatable = {} }) => allocatable)),
    };
  }
}

interface Page<Item> {
  items: Item[];
  /** Where it goes on. */
  next?: string;
}

const entriesOf = (amounts: Record<string, string>): [string, string][] =>
  Object.entries(amounts).slice(0, MOST_QUOTAS);

const quotaLines = ({ metadata, status }: Quota): QuotaLine[] =>
  entriesOf(status.hard).map(([resource, hard]) => ({
    name: oneLine(metadata.name),
    resource: oneLine(resource),
    hard: oneLine(hard),
    ...(status.used[resource] !== undefined && { used: oneLine(status.used[resource]) }),
  }));

const nameOf = ({ metadata }: K8sJob): string => oneLine(metadata.name);

interface QuotaLine {
  name: string;
  resource: string;
  hard: string;
  used?: string;
}

const isUsedUp = ({ hard, used = '' }: QuotaLine): boolean => (parseQuantity(used) ?? -1) >= (parseQuantity(hard) ?? 0);

const usedUpText = ({ name, resource, hard, used }: QuotaLine): string =>
  `the quota ${name} is used up: ${used} of ${hard} ${resource}`;

const limitLines = ({ metadata, spec }: LimitRange) =>
  spec.limits.flatMap(({ type, min, max, default: fallback }) =>
    [...new Set([min, max, fallback].flatMap(entriesOf).map(([resource]) => resource))].map((resource) => ({
      name: oneLine(metadata.name),
      type: oneLine(type),
      resource: oneLine(resource),
      ...(min[resource] !== undefined && { min: oneLine(min[resource]) }),
      ...(max[resource] !== undefined && { max: oneLine(max[resource]) }),
      ...(fallback[resource] !== undefined && { default: oneLine(fallback[resource]) }),
    })),
  );
