import type { Draft, Node, Quantities, Taint } from './fake-objects.js';

/** A node as it is asked for. */
export interface Machine {
  name: string;
  /** In place of much room. */
  capacity?: Quantities;
  labels?: Record<string, string>;
  taints?: Taint[];
}

const ROOM: Quantities = { cpu: '64', memory: '256Gi', pods: '1000' };

export const aNode = ({ name, capacity = {}, labels = {}, taints }: Machine): Draft<Node> => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels } },
  spec: { ...(taints && { taints }) },
  status: {
    capacity: { ...ROOM, ...capacity },
    allocatable: { ...ROOM, ...capacity },
    conditions: [
      { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
    ],
    nodeInfo: { kubeletVersion: 'v1.34.4' },
  },
});
