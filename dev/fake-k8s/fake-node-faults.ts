import type { FakeCluster } from './fake-cluster.js';
import { deleteObject } from './fake-deletion.js';
import { disrupted } from './fake-evictions.js';
import type { FakeKubelet } from './fake-kubelet.js';
import type { FakeKubelets } from './fake-kubelets.js';
import type { Pod } from './fake-objects.js';
import type { PodRun } from './fake-pod.js';

/** What befalls nodes and the pods that run there. A pod is named by its name, or by that of its Job. */
export class NodeFaults {
  constructor(
    private readonly cluster: Pick<FakeCluster, 'store' | 'nodes' | 'scheduler' | 'evictions'>,
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
    deleteObject(this.cluster.store, 'pods', this.found(name).pod, options);
  }

  /** As the API evicts it. */
  evict(name: string): void {
    this.cluster.evictions.evict(this.found(name).pod);
  }

  /** Makes way for a pod that matters more. */
  preempt(name: string): void {
    this.cluster.scheduler.preempt(this.found(name).pod, 'other');
  }

  /** Its node has no memory left for it. It is kept, without its log. */
  evictForMemory(name: string): void {
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. Container main was using 1Gi, request is 0, has larger consumption of memory. ';
    disrupted(this.cluster.store, this.found(name).pod, 'TerminationByKubelet', message);
    this.throwOut(name, message);
  }

  /** It has written more than it may. It is kept, without its log; nothing says that it was disrupted. */
  exceedStorage(name: string): void {
    this.throwOut(name, 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ');
  }

  /** Its log is removed from its node, which says so with status 200. */
  loseLog(name: string): void {
    this.found(name).run.isLogLost = true;
  }

  /** Its log is rotated: what there was is for nobody who asks anew. */
  rotateLog(name: string): void {
    for (const { log } of this.found(name).run.main) log.rotate();
  }

  /** Its containers start again, though nothing of it is told to. */
  restartContainers(name: string): void {
    for (const container of this.found(name).run.main) container.restart();
  }

  /** It is out of reach at once; the rest of the cluster notices later. */
  killNode(node: string, { isKilled = true } = {}): void {
    this.kubelet(node).goDown(isKilled);
    this.cluster.nodes.lose(node);
  }

  /** It is back, with what still runs there, and tells how the rest has ended. */
  returnNode(node: string): void {
    this.kubelet(node).comeBack();
    this.cluster.nodes.return(node);
  }

  private throwOut(name: string, message: string): void {
    const { pod, kubelet, run } = this.found(name);
    kubelet.tell(pod, { type: 'Warning', reason: 'Evicted', message });
    run.isLogLost = true;
    run.fail({ reason: 'Evicted', message }, 0);
  }

  private kubelet(node: string): FakeKubelet {
    const kubelet = this.kubelets.kubeletOf(node);
    if (!kubelet) throw new Error(`there is no node ${node}`);
    return kubelet;
  }

  private found(name: string): { pod: Pod; kubelet: FakeKubelet; run: PodRun } {
    const pod = this.cluster.store
      .list('pods')
      .find(({ metadata }) => metadata.name === name || metadata.labels?.['batch.kubernetes.io/job-name'] === name);
    const kubelet = pod?.spec.nodeName === undefined ? undefined : this.kubelets.kubeletOf(pod.spec.nodeName);
    const run = pod && kubelet?.runOf(pod);
    if (!pod || !kubelet || !run) throw new Error(`no pod of ${name} is on a node`);
    return { pod, kubelet, run };
  }
}
