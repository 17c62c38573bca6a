import type { Draft, Kind, Pod, PodSpec, Quantities, ResourceQuota, Stored } from './fake-objects.js';
import { milliOf, quantityOf } from './fake-quantities.js';
import { RESOURCES } from './fake-resources.js';
import type { FakeStore } from './fake-store.js';

type Amounts = Map<string, number>;

export const hasEnded = ({ status }: Pick<Pod, 'status'>): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

/** In thousandths, by axis: what its containers ask for together, or one of those that run before them alone. */
export function demandOf(spec: PodSpec, side: 'requests' | 'limits'): Amounts {
  const sum: Amounts = new Map();
  for (const { resources } of spec.containers) {
    for (const [axis, quantity] of Object.entries(resources?.[side] ?? {})) {
      sum.set(axis, (sum.get(axis) ?? 0) + milliOf(quantity));
    }
  }
  for (const { resources } of spec.initContainers ?? []) {
    for (const [axis, quantity] of Object.entries(resources?.[side] ?? {})) {
      sum.set(axis, Math.max(sum.get(axis) ?? 0, milliOf(quantity)));
    }
  }
  return sum;
}

/** What an object takes of an axis of a quota. */
function taken(kind: Kind, object: Pick<Draft<Stored>, 'metadata'>, axis: string): number {
  const { group } = RESOURCES[kind];
  const counted = [`count/${kind}${group && `.${group}`}`, ...(group === '' ? [kind] : [])];
  if (counted.includes(axis)) return 1_000;
  if (kind !== 'pods') return 0;
  const { spec } = object as Pod;
  const [, side = 'requests', of = axis] = /^(requests|limits)\.(.+)$/.exec(axis) ?? [];
  return demandOf(spec, side === 'limits' ? 'limits' : 'requests').get(of) ?? 0;
}

const KINDS: readonly Kind[] = ['pods', 'jobs', 'secrets', 'networkpolicies'];

export function usedOf(store: FakeStore, { metadata, spec }: ResourceQuota): Quantities {
  const used = Object.keys(spec.hard).map((axis) => [axis, quantityOf(inUse(store, metadata.namespace, axis))]);
  return Object.fromEntries(used) as Quantities;
}

function inUse(store: FakeStore, namespace: string | undefined, axis: string): number {
  let sum = 0;
  for (const kind of KINDS) {
    for (const object of store.list(kind, namespace)) {
      const counts = kind !== 'pods' || axis === 'count/pods' || !hasEnded(object as Pod);
      if (counts) sum += taken(kind, object, axis);
    }
  }
  return sum;
}

const MUST_BE_SAID = /^(?:(requests|limits)\.)?(cpu|memory)$/;

/** Why the quotas of a namespace do not let an object in. */
export function quotaRefusal(
  store: FakeStore,
  kind: Kind,
  namespace: string,
  draft: Draft<Stored>,
): string | undefined {
  for (const quota of store.list('resourcequotas', namespace)) {
    const { name } = quota.metadata;
    const axes = Object.keys(quota.spec.hard).sort();
    const unsaid = kind === 'pods' ? axes.flatMap((axis) => unsaidBy((draft as Draft<Pod>).spec, axis)) : [];
    if (unsaid.length > 0) return `failed quota: ${name}: must specify ${unsaid.join('; ')}`;
    const over = axes.filter((axis) => {
      const more = taken(kind, draft, axis);
      return more > 0 && inUse(store, namespace, axis) + more > milliOf(quota.spec.hard[axis]);
    });
    if (over.length === 0) continue;
    const told = (amount: (axis: string) => string): string => over.map((axis) => `${axis}=${amount(axis)}`).join(',');
    const requested = told((axis) => quantityOf(taken(kind, draft, axis)));
    const used = told((axis) => quantityOf(inUse(store, namespace, axis)));
    return `exceeded quota: ${name}, requested: ${requested}, used: ${used}, limited: ${told((axis) => quota.spec.hard[axis] ?? '')}`;
  }
  return undefined;
}

function unsaidBy({ containers }: PodSpec, axis: string): string[] {
  const [whole, side = 'requests', of = ''] = MUST_BE_SAID.exec(axis) ?? [];
  if (!whole) return [];
  const silent = containers.filter(({ resources }) => {
    const said = side === 'limits' ? resources?.limits : resources?.requests;
    return said?.[of] === undefined;
  });
  return silent.length > 0 ? [`${axis} for: ${silent.map(({ name }) => name).join(',')}`] : [];
}
