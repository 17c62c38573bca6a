import { deleteObject } from './fake-deletion.js';
import type { EventRecorder } from './fake-events.js';
import { disrupted } from './fake-evictions.js';
import type { Condition, Node, Pod, Taint } from './fake-objects.js';
import type { Pace } from './fake-pace.js';
import { WorkQueue } from './fake-queue.js';
import { hasEnded } from './fake-quota.js';
import { tolerationOf } from './fake-scheduling.js';
import { type FakeStore, timestamp } from './fake-store.js';

const UNREACHABLE = 'node.kubernetes.io/unreachable';
const SILENT = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const POSTING = { reason: 'KubeletReady', message: 'kubelet is posting ready status' };

/** Nodes that are lost and come back, and the pods that taints and lost nodes end. */
export class NodeLife {
  private readonly grace: WorkQueue;
  private readonly taints: WorkQueue;
  private readonly gone: WorkQueue;
  private readonly lost = new Set<string>();
  /** Since when a pod is under a taint. */
  private readonly since = new Map<string, number>();

  constructor(
    private readonly store: FakeStore,
    private readonly events: EventRecorder,
    private readonly pace: Pace,
  ) {
    this.grace = new WorkQueue((name) => {
      if (this.lost.has(name)) this.setReady(name, false);
    }, pace.nodeGraceMs);
    this.taints = new WorkQueue((key) => this.heed(key), 1);
    this.gone = new WorkQueue((key) => this.endPod(key), pace.podGcMs);
    store.onChange(({ kind, type, object }) => {
      if (kind === 'nodes') this.seeNode(object as Node);
      else if (kind === 'pods' && type !== 'DELETED') this.seePod(object as Pod);
      else if (kind === 'pods') this.since.delete(object.metadata.uid);
    });
  }

  close(): void {
    for (const queue of [this.grace, this.taints, this.gone]) queue.close();
  }

  /** Its kubelet says nothing any more: that is noticed after a grace. What runs there runs on. */
  lose(name: string): void {
    this.lost.add(name);
    this.grace.add(name);
  }

  return(name: string): void {
    this.lost.delete(name);
    this.setReady(name, true);
  }

  private setReady(name: string, isReady: boolean): void {
    this.store.update('nodes', '', name, ({ spec, status }) => {
      const others = (spec.taints ?? []).filter(({ key }) => key !== UNREACHABLE);
      const added = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE, effect, timeAdded: timestamp() }));
      spec.taints = isReady ? others : [...others, ...added];
      status.conditions = status.conditions.map((each) => ({
        ...each,
        ...(each.type === 'Ready' ? (isReady ? POSTING : SILENT) : {}),
        ...(each.type === 'Ready' && { status: isReady ? 'True' : 'Unknown', lastTransitionTime: timestamp() }),
      }));
    });
    for (const pod of this.store.list('pods')) if (pod.spec.nodeName === name) this.markPod(pod, isReady);
  }

  /** What runs on a silent node is not ready: others than its kubelet say so, and give no reason. */
  private markPod(pod: Pod, isReady: boolean): void {
    const { namespace = '', name } = pod.metadata;
    const isOpposite = ({ type, status, reason }: Condition): boolean =>
      type === 'Ready' && !reason && status === (isReady ? 'False' : 'True');
    if (hasEnded(pod) || !pod.status.conditions?.some(isOpposite)) return;
    this.store.update('pods', namespace, name, ({ status }) => {
      status.conditions = status.conditions?.map((each) =>
        isOpposite(each) ? { ...each, status: isReady ? 'True' : 'False', lastTransitionTime: timestamp() } : each,
      );
    });
    if (isReady) return;
    const words = { reason: 'NodeNotReady', message: 'Node is not ready', component: 'node-controller' };
    this.events.record('pods', pod, { type: 'Warning', ...words });
  }

  private seeNode({ metadata }: Node): void {
    for (const pod of this.store.list('pods')) if (pod.spec.nodeName === metadata.name) this.seePod(pod);
  }

  private seePod(pod: Pod): void {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const node = this.nodeOf(pod);
    if (pod.spec.nodeName ? !node : pod.metadata.deletionTimestamp) this.gone.add(key);
    if (node?.spec.taints?.some(({ effect }) => effect === 'NoExecute')) this.taints.add(key);
    else this.since.delete(pod.metadata.uid);
  }

  private nodeOf({ spec }: Pod): Node | undefined {
    return spec.nodeName === undefined ? undefined : this.store.get('nodes', '', spec.nodeName);
  }

  /** Deletes a pod that does not bear a taint, or not any longer. */
  private heed(key: string): void {
    const pod = this.podOf(key);
    if (!pod || pod.metadata.deletionTimestamp || hasEnded(pod)) return;
    const taints = (this.nodeOf(pod)?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    const leftMs = Math.min(...taints.map((taint) => this.bearsMs(pod, taint)));
    if (leftMs === Number.POSITIVE_INFINITY) return;
    if (leftMs > 0) {
      this.taints.add(key, leftMs);
      return;
    }
    disrupted(this.store, pod, 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint');
    const message = `Marking for deletion Pod ${key}`;
    const component = 'taint-eviction-controller';
    this.events.record('pods', pod, { type: 'Normal', reason: 'TaintManagerEviction', message, component });
    deleteObject(this.store, 'pods', pod);
  }

  private bearsMs({ metadata, spec }: Pod, taint: Taint): number {
    const since = this.since.get(metadata.uid) ?? Date.now();
    this.since.set(metadata.uid, since);
    const toleration = tolerationOf(spec, taint);
    if (!toleration) return 0;
    const { tolerationSeconds: seconds } = toleration;
    return seconds === undefined ? Number.POSITIVE_INFINITY : since + seconds * this.pace.secondMs - Date.now();
  }

  /** Ends a pod that no kubelet ends: one that never had a node, or whose node is no more. */
  private endPod(key: string): void {
    const pod = this.podOf(key);
    if (!pod || this.nodeOf(pod)) return;
    const { namespace = '', name } = pod.metadata;
    if (pod.spec.nodeName) {
      disrupted(this.store, pod, 'DeletionByPodGC', 'PodGC: node no longer exists');
    } else if (!pod.metadata.deletionTimestamp) return;
    this.store.update('pods', namespace, name, ({ status }) => {
      if (status.phase !== 'Succeeded') status.phase = 'Failed';
    });
    this.store.remove('pods', namespace, name);
  }

  private podOf(key: string): Pod | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.store.get('pods', namespace, name);
  }
}
