import type { Amounts, InspectedNode } from '../../contracts/inspection.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { oneLine } from '../cluster-text.js';
import { toCount, toMemoryMb, toMillicores } from './k8s.quantity.js';
import type { Node, Taint } from './k8s.replies.js';

type Toleration = NonNullable<K8sRuntimeSpec['tolerations']>[number];
export type Placement = Pick<K8sRuntimeSpec, 'nodeSelector' | 'tolerations' | 'gpu'>;

const GPU = 'nvidia.com/gpu';
const MOST_SHOWN = 20;
const SHOWN_LABELS = {
  'kubernetes.io/os': 'os',
  'kubernetes.io/arch': 'arch',
  'node.kubernetes.io/instance-type': 'type',
  'topology.kubernetes.io/zone': 'zone',
} as const;

/** A node in plain amounts, as jobs of a runtime see it. */
export function inspectedNode(node: Node, placement: Placement): InspectedNode {
  const { metadata, status } = node;
  const pressure = status.conditions.filter(({ type, status: is }) => is === 'True' && type.endsWith('Pressure'));
  return {
    name: oneLine(metadata.name),
    status: statusOf(node),
    schedulable: isSchedulable(node, placement),
    labels: labelsOf(node, placement),
    capacity: amountsOf(status.capacity),
    allocatable: amountsOf(status.allocatable),
    taints: node.spec.taints.slice(0, MOST_SHOWN).map(taintText),
    pressure: pressure.slice(0, MOST_SHOWN).map(({ type }) => oneLine(type)),
  };
}

const isReady = ({ status }: Node): boolean =>
  status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');

function statusOf(node: Node): string {
  const ready = isReady(node) ? 'Ready' : 'NotReady';
  return node.spec.unschedulable ? `${ready}, cordoned` : ready;
}

/** Whether a job of the runtime may be placed there, room aside. */
function isSchedulable(node: Node, { nodeSelector = {}, tolerations = [] }: Placement): boolean {
  const { labels = {} } = node.metadata;
  const isSelected = Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
  const keepsAway = ({ effect }: Taint) => effect === 'NoSchedule' || effect === 'NoExecute';
  const isTolerated = (taint: Taint) => tolerations.some((toleration) => tolerates(toleration, taint));
  const isOpen = !node.spec.unschedulable && node.spec.taints.filter(keepsAway).every(isTolerated);
  return isReady(node) && isSelected && isOpen;
}

/** As Kubernetes compares them: no effect is any effect, no key with `Exists` any key. */
function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === undefined || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

function labelsOf({ metadata, status }: Node, { nodeSelector = {} }: Placement): Record<string, string> {
  const { labels = {} } = metadata;
  const shown = new Map<string, string>(Object.entries(SHOWN_LABELS));
  for (const key of Object.keys(nodeSelector)) shown.set(key, key);
  const known = [...shown].flatMap(([key, name]) => (labels[key] ? [[name, oneLine(labels[key])] as const] : []));
  const version = status.nodeInfo?.kubeletVersion;
  return Object.fromEntries(version ? [...known, ['version', oneLine(version)] as const] : known);
}

const taintText = ({ key, value, effect }: Taint): string => oneLine(`${key}${value ? `=${value}` : ''}:${effect}`);

function amountsOf(resources: Record<string, string>): Amounts {
  const { cpu = '', memory = '', [GPU]: gpu = '' } = resources;
  const [cpuMillicores, memoryMb, gpus] = [toMillicores(cpu), toMemoryMb(memory), toCount(gpu)];
  return {
    ...(cpuMillicores !== undefined && { cpuMillicores }),
    ...(memoryMb !== undefined && { memoryMb }),
    ...(gpus !== undefined && gpus > 0 && { gpus }),
  };
}

/** Why jobs of this runtime may find no place on these nodes. */
export function placementWarnings(nodes: readonly InspectedNode[], { gpu }: Placement): string[] {
  const open = nodes.filter(({ schedulable }) => schedulable);
  if (open.length === 0) {
    return ['no node takes jobs of this runtime now: see `schedulable`, taints, `nodeSelector` and `tolerations`'];
  }
  const most = Math.max(...open.map(({ allocatable }) => allocatable?.gpus ?? 0));
  if (gpu === undefined || most >= gpu) return [];
  return [`\`gpu\` asks for ${gpu}, and the most that one node has is ${most}`];
}
