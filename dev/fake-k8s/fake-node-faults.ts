import { setTimeout as sleep } from 'node:timers/promises';
import { deleteObject } from './fake-deletion.js';
import { disrupted } from './fake-evictions.js';
import type { FakeKubelet } from './fake-kubelet.js';
import type { FakeKubelets } from './fake-kubelets.js';
import type { Condition, Pod, Taint } from './fake-objects.js';
import type { PodRun } from './fake-pod.js';
import { type FakeStore, timestamp } from './fake-store.js';

const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** What befalls nodes and the pods that run there. A pod is named by its name, or by that of its Job. */
export class NodeFaults {
  constructor(
    private readonly store: FakeStore,
    private readonly kubelets: FakeKubelets,
  ) {}

  /** Memory runs out: the kernel kills the whole container, or a process that it has started. */
  outOfMemory(name: string, { isChild = false } = {}): void {
    const { run } = this.found(name);
    for (const container of run.main) container.outOfMemory(isChild);
  }

  /** Somebody deletes it. */
  deletePod(name: string, graceSeconds?: number): void {
    const options = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
    deleteObject(this.store, 'pods', this.found(name).pod, options);
  }

  /** As the API evicts it. */
  evict(name: string): void {
    disrupted(this.store, this.found(name).pod, 'EvictionByEvictionAPI', 'Eviction API: evicting');
    this.deletePod(name);
  }

  /** Makes way for a pod that matters more. */
  preempt(name: string): void {
    const { pod, kubelet } = this.found(name);
    const message = 'default-scheduler: preempting to accommodate a higher priority pod';
    disrupted(this.store, pod, 'PreemptionByScheduler', message);
    kubelet.tell(pod, {
      type: 'Normal',
      reason: 'Preempted',
      message: `Preempted by pod other on node ${kubelet.node}`,
    });
    this.deletePod(name);
  }

  /** Its node has no memory left for it. It is kept, without its log. */
  evictForMemory(name: string): void {
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. Container main was using 1Gi, request is 0, has larger consumption of memory. ';
    disrupted(this.store, this.found(name).pod, 'TerminationByKubelet', message);
    this.throwOut(name, message);
  }

  /** It has written more than it may. It is kept, without its log; nothing says that it was disrupted. */
  exceedStorage(name: string): void {
    this.throwOut(name, 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ');
  }

  /** Its containers start again, though nothing of it is told to. */
  restartContainers(name: string): void {
    for (const container of this.found(name).run.main) container.restart();
  }

  /** It is out of reach at once; the rest of the cluster notices after so long. */
  async killNode(node: string, { isKilled = true, noticedAfterMs = 0 } = {}): Promise<void> {
    const kubelet = this.kubelet(node);
    kubelet.goDown(isKilled);
    if (noticedAfterMs > 0) await sleep(noticedAfterMs);
    if (kubelet.isUp) return;
    this.setReady(node, {
      ...{ status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
      taints: [
        { key: UNREACHABLE, effect: 'NoSchedule', timeAdded: timestamp() },
        { key: UNREACHABLE, effect: 'NoExecute', timeAdded: timestamp() },
      ],
    });
  }

  /** It is back, with what still runs there, and tells how the rest has ended. */
  returnNode(node: string): void {
    this.kubelet(node).comeBack();
    const message = 'kubelet is posting ready status';
    this.setReady(node, { status: 'True', reason: 'KubeletReady', message, taints: [] });
  }

  private throwOut(name: string, message: string): void {
    const { pod, kubelet, run } = this.found(name);
    kubelet.tell(pod, { type: 'Warning', reason: 'Evicted', message });
    run.isLogLost = true;
    run.fail({ reason: 'Evicted', message }, 0);
  }

  private setReady(node: string, change: Omit<Condition, 'type'> & { taints: Taint[] }): void {
    const { taints, ...rest } = change;
    this.store.update('nodes', '', node, ({ spec, status }) => {
      const others = (spec.taints ?? []).filter(({ key }) => key !== UNREACHABLE);
      spec.taints = [...others, ...taints];
      const ready = { type: 'Ready', ...rest, lastTransitionTime: timestamp() };
      status.conditions = [...status.conditions.filter(({ type }) => type !== 'Ready'), ready];
    });
  }

  private kubelet(node: string): FakeKubelet {
    const kubelet = this.kubelets.kubeletOf(node);
    if (!kubelet) throw new Error(`there is no node ${node}`);
    return kubelet;
  }

  private found(name: string): { pod: Pod; kubelet: FakeKubelet; run: PodRun } {
    const pod = this.store
      .list('pods')
      .find(({ metadata }) => metadata.name === name || metadata.labels?.['batch.kubernetes.io/job-name'] === name);
    const kubelet = pod?.spec.nodeName === undefined ? undefined : this.kubelets.kubeletOf(pod.spec.nodeName);
    const run = pod && kubelet?.runOf(pod);
    if (!pod || !kubelet || !run) throw new Error(`no pod of ${name} is on a node`);
    return { pod, kubelet, run };
  }
}
