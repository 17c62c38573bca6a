import type { Amounts, InspectedNode } from '../../contracts/inspection.js';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { sumOf } from '../cluster-amounts.js';
import { oneLine } from '../cluster-text.js';
import type { Allocation, Node } from './nomad.replies.js';

/** States of allocations that hold what they were given. */
const LIVE = new Set(['running', 'pending', 'unknown']);

export const isLive = ({ ClientStatus }: Pick<Allocation, 'ClientStatus'>): boolean => LIVE.has(ClientStatus);

/** A node in plain amounts, with what runs on it where that is known. */
export function inspectedNode(node: Node, own: readonly Allocation[] | undefined): InspectedNode {
  const labels = { datacenter: node.Datacenter, pool: node.NodePool, class: node.NodeClass, version: node.Version };
  const known = Object.entries(labels).flatMap(([name, value]) => (value ? [[name, oneLine(value)] as const] : []));
  return {
    name: oneLine(node.Name),
    status: oneLine(node.Status),
    schedulable: isSchedulable(node),
    labels: Object.fromEntries(known),
    drivers: driversOf(node).map((driver) => oneLine(driver)),
    capacity: capacityOf(node),
    ...(own && { allocated: sumOf(own.map(amountsOf)), running: own.length }),
  };
}

const isSchedulable = ({ Status, SchedulingEligibility, Drain }: Node): boolean =>
  Status === 'ready' && SchedulingEligibility === 'eligible' && !Drain;

const driversOf = ({ Drivers }: Node): string[] =>
  Object.entries(Drivers ?? {})
    .filter(([, { Detected, Healthy }]) => Detected && Healthy)
    .map(([name]) => name)
    .sort();

function gpusOf({ NodeResources }: Node): number {
  const gpus = (NodeResources?.Devices ?? []).filter(({ Type }) => Type === 'gpu');
  return gpus.reduce((count, { Instances }) => count + Instances.filter(({ Healthy }) => Healthy).length, 0);
}

function capacityOf(node: Node): Amounts {
  const gpus = gpusOf(node);
  return {
    ...(node.NodeResources?.Cpu && { cpuMhz: node.NodeResources.Cpu.CpuShares }),
    ...(node.NodeResources?.Memory && { memoryMb: node.NodeResources.Memory.MemoryMB }),
    ...(gpus > 0 && { gpus }),
  };
}

function amountsOf({ AllocatedResources }: Allocation): Amounts {
  const tasks = Object.values(AllocatedResources?.Tasks ?? {});
  const gpus = tasks.flatMap(({ Devices }) => Devices).filter(({ Type }) => Type === 'gpu');
  return sumOf([
    ...tasks.map(({ Cpu, Memory }) => ({
      ...(Cpu && { cpuMhz: Cpu.CpuShares }),
      ...(Memory && { memoryMb: Memory.MemoryMB }),
    })),
    ...gpus.map(({ DeviceIDs }) => ({ gpus: DeviceIDs.length })),
  ]);
}

/** Datacenters of a runtime that no node is in. */
export const missingDatacenters = (
  { datacenters }: Pick<NomadRuntimeSpec, 'datacenters'>,
  nodes: readonly Node[],
): string[] =>
  datacenters
    .filter((name) => !nodes.some(({ Datacenter }) => inDatacenter(name, Datacenter)))
    .map((name) => `no node is in datacenter ${name}`);

/** Why jobs of this runtime may find no place on these nodes. */
export function placementWarnings(spec: NomadRuntimeSpec, nodes: readonly Node[]): string[] {
  const warnings = missingDatacenters(spec, nodes);
  const placeable = nodes.filter(isSchedulable);
  const inReach = placeable.filter(({ Datacenter }) => spec.datacenters.some((name) => inDatacenter(name, Datacenter)));
  if (inReach.length === 0) return [...warnings, 'no node takes jobs of this runtime now'];
  if (!inReach.some((node) => driversOf(node).includes(spec.driver))) {
    warnings.push(`no node has a healthy driver ${spec.driver}`);
  }
  const most = Math.max(...inReach.map(gpusOf));
  if (spec.gpu !== undefined && most < spec.gpu) {
    warnings.push(`a job takes ${spec.gpu} GPUs, and the most that one node has is ${most}`);
  }
  return warnings;
}

/** Whether there are nodes, and none in any of its datacenters, of which none is a pattern. */
export const isInNone = ({ datacenters }: Pick<NomadRuntimeSpec, 'datacenters'>, nodes: readonly Node[]): boolean =>
  nodes.length > 0 &&
  !datacenters.some((name) => name.includes('*') || nodes.some(({ Datacenter }) => inDatacenter(name, Datacenter)));

/** `*` at the end stands for any text, as in `dc*`. */
const inDatacenter = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
