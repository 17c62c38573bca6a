import type { Constraint, TaskGroup } from './fake-documents.js';
import { type FakeNode, type Room, roomOf } from './fake-nodes.js';
import type { PlacementMetrics, StoredJob } from './fake-state.js';

export type Placement = { node: FakeNode } | { metrics: PlacementMetrics };

/** The node with the most room that a group may run on, or why there is none. */
export function place(job: StoredJob, group: TaskGroup, nodes: Iterable<FakeNode>): Placement {
  const inPool = [...nodes].filter((node) => node.isSchedulable && node.nodePool === job.NodePool);
  const isWanted = (node: FakeNode) => job.Datacenters.some((name) => matches(name, node.datacenter));
  const candidates = inPool.filter(isWanted);
  const filtered: Record<string, number> = {};
  const exhausted: Record<string, number> = {};
  const room = roomOf(group);
  let best: { node: FakeNode; free: number } | undefined;
  for (const node of candidates) {
    const filter = whyFiltered(job, group, node);
    const dimension = filter === undefined ? lacking(node, room, group) : undefined;
    if (filter !== undefined) add(filtered, filter);
    else if (dimension !== undefined) add(exhausted, dimension);
    else {
      const free = node.total.memory - node.used.memory;
      if (!best || free > best.free) best = { node, free };
    }
  }
  return best ? { node: best.node } : { metrics: metricsOf(group, candidates, filtered, exhausted) };
}

function whyFiltered(job: StoredJob, group: TaskGroup, node: FakeNode): string | undefined {
  const constraints = [job, group, ...group.Tasks].flatMap(({ Constraints }) => Constraints ?? []);
  const unmet = constraints.find((constraint) => !holds(constraint, node));
  if (unmet) return `${unmet.LTarget} ${unmet.Operand} ${unmet.RTarget}`;
  if (group.Tasks.some(({ Driver }) => !node.drivers.includes(Driver))) return 'missing drivers';
  const asked = group.Tasks.flatMap(({ Resources }) => Resources.Devices ?? []);
  const isThere = ({ Name, Count }: (typeof asked)[number]) =>
    ['gpu', 'nvidia/gpu', 'nvidia/gpu/Fake'].includes(Name) && Count <= node.total.gpus;
  return asked.every(isThere) ? undefined : 'missing devices';
}

function holds({ LTarget, Operand, RTarget }: Constraint, node: FakeNode): boolean {
  const left = resolve(LTarget, node);
  const right = resolve(RTarget, node);
  switch (Operand) {
    case '=':
    case '==':
    case 'is':
      return left !== undefined && left === right;
    case '!=':
    case 'not':
      return left !== right;
    case 'regexp':
      return left !== undefined && right !== undefined && new RegExp(right).test(left);
    case 'is_set':
      return left !== undefined;
    case 'is_not_set':
      return left === undefined;
    case 'set_contains':
      return (right ?? '').split(',').every((item) => (left ?? '').split(',').includes(item));
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compares(Operand, left, right);
    default:
      return false;
  }
}

function compares(operand: '<' | '<=' | '>' | '>=', left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const areNumbers = left !== '' && right !== '' && Number.isFinite(Number(left)) && Number.isFinite(Number(right));
  const [a, b] = areNumbers ? [Number(left), Number(right)] : [left, right];
  if (operand === '<') return a < b;
  if (operand === '<=') return a <= b;
  return operand === '>' ? a > b : a >= b;
}

const resolve = (target: string, node: FakeNode): string | undefined => {
  const name = /^\$\{(.+)\}$/.exec(target)?.[1];
  return name === undefined ? target : node.target(name);
};

function lacking(node: FakeNode, room: Room, group: TaskGroup): string | undefined {
  const cores = group.Tasks.reduce((sum, { Resources }) => sum + (Resources.Cores ?? 0), 0);
  if (cores > (node.machine.cores ?? 2)) return 'cores';
  const exceeds = (dimension: keyof Room) => node.used[dimension] + room[dimension] > node.total[dimension];
  if (exceeds('gpus')) return 'devices: no devices match request';
  return (['cpu', 'memory', 'disk'] as const).find(exceeds);
}

function metricsOf(
  group: TaskGroup,
  candidates: readonly FakeNode[],
  filtered: Record<string, number>,
  exhausted: Record<string, number>,
): PlacementMetrics {
  const orNull = <Value>(counts: Record<string, Value>) => (Object.keys(counts).length > 0 ? counts : null);
  const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);
  const available: Record<string, number> = {};
  for (const { datacenter } of candidates) add(available, datacenter);
  const lacks = (Resources: TaskGroup['Tasks'][number]['Resources']) => ({
    CPU: exhausted.cpu ? Resources.CPU : 0,
    Cores: 0,
    Devices: null,
    DiskMB: 0,
    IOPS: 0,
    MemoryMB: exhausted.memory ? Resources.MemoryMB : 0,
    MemoryMaxMB: 0,
    Networks: null,
  });
  const isExhausted = total(exhausted) > 0;
  return {
    AllocationTime: 35_884,
    ClassExhausted: null,
    ClassFiltered: null,
    CoalescedFailures: 0,
    ConstraintFiltered: orNull(filtered),
    DimensionExhausted: orNull(exhausted),
    NodesAvailable: available,
    NodesEvaluated: candidates.length,
    NodesExhausted: total(exhausted),
    NodesFiltered: total(filtered),
    NodesInPool: candidates.length,
    QuotaExhausted: null,
    ResourcesExhausted: isExhausted
      ? Object.fromEntries(group.Tasks.map(({ Name, Resources }) => [Name, lacks(Resources)]))
      : null,
    ScoreMetaData: null,
    Scores: null,
  };
}

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** Datacenters may hold `*`. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}
