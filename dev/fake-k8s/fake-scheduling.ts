import type { Node, Pod, PodSpec, Taint } from './fake-objects.js';
import { milliOf } from './fake-quantities.js';
import { demandOf } from './fake-quota.js';

/** What a pod would have to wait for on a node; `isHopeless`: no pod that goes makes room. */
interface Unfit {
  reasons: string[];
  isHopeless: boolean;
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

const tolerates = ({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean =>
  (!effect || effect === taint.effect) &&
  (!key ? operator === 'Exists' : key === taint.key) &&
  (operator === 'Exists' || value === (taint.value ?? ''));

/** The toleration of a taint that a pod has. */
export const tolerationOf = ({ tolerations = [] }: PodSpec, taint: Taint): Toleration | undefined =>
  tolerations.find((each) => tolerates(each, taint));

/** Why a pod cannot be placed on a node beside those that are bound to it: the first thing that speaks against it. */
export function unfitness({ spec }: Pod, node: Node, bound: readonly Pod[]): Unfit | undefined {
  const hopeless = (reason: string): Unfit => ({ reasons: [reason], isHopeless: true });
  if (node.spec.unschedulable) return hopeless('node(s) were unschedulable');
  const repelling = (node.spec.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  if (repelling.some((taint) => !tolerationOf(spec, taint))) return hopeless('node(s) had untolerated taint(s)');
  const labels = node.metadata.labels ?? {};
  const isSelected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  if (!isSelected) return hopeless("node(s) didn't match Pod's node affinity/selector");
  return lack(spec, node, bound);
}

function lack(spec: PodSpec, { status: { allocatable } }: Node, bound: readonly Pod[]): Unfit | undefined {
  const roomOf = (axis: string): number => milliOf(allocatable[axis] ?? '0');
  const wanted = demandOf(spec, 'requests');
  const used = (axis: string): number =>
    bound.reduce((sum, pod) => sum + (demandOf(pod.spec, 'requests').get(axis) ?? 0), 0);
  if (allocatable.pods !== undefined && (bound.length + 1) * 1_000 > roomOf('pods')) {
    return { reasons: ['Too many pods'], isHopeless: false };
  }
  const scarce = [...wanted].filter(([axis, amount]) => amount > 0 && used(axis) + amount > roomOf(axis));
  if (scarce.length === 0) return undefined;
  return {
    reasons: scarce.map(([axis]) => `Insufficient ${axis}`),
    isHopeless: scarce.some(([axis, amount]) => amount > roomOf(axis)),
  };
}

/** The sentence in which a scheduler says that no node takes a pod. */
export function unschedulable(unfit: readonly Unfit[]): string {
  if (unfit.length === 0) return 'no nodes available to schedule pods';
  const head = `0/${unfit.length} nodes are available:`;
  const why = counted(unfit.flatMap(({ reasons }) => reasons));
  const preemption = counted(
    unfit.map(({ isHopeless }) =>
      isHopeless ? 'Preemption is not helpful for scheduling' : 'No preemption victims found for incoming pod',
    ),
  );
  return `${head} ${why}. no new claims to deallocate, preemption: ${head} ${preemption}.`;
}

function counted(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
