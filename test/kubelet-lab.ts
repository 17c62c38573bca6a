import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FakeCluster } from '../dev/fake-k8s/fake-cluster.js';
import { FakeKubelets, type KubeletsOptions } from '../dev/fake-k8s/fake-kubelets.js';
import { NodeFaults } from '../dev/fake-k8s/fake-node-faults.js';
import type { Container, Pod, PodSpec } from '../dev/fake-k8s/fake-objects.js';

export const NAMESPACE = 'evals';

export const sh = (script: string, rest: Partial<Container> = {}): Container => ({
  ...{ name: 'main', image: 'x:1', command: ['/bin/sh', '-c', script] },
  ...rest,
});

export const hasEnded = ({ status }: Pod): boolean => status.phase === 'Succeeded' || status.phase === 'Failed';
export const stateOf = ({ status }: Pod) => status.containerStatuses?.find(({ name }) => name === 'main')?.state;
export const isRunning = (pod: Pod): boolean => stateOf(pod)?.running !== undefined;
export const isWaiting = (reason: string) => (pod: Pod) => stateOf(pod)?.waiting?.reason === reason;
/** The reason of each, or its status where there is none. */
export const conditionsOf = ({ status }: Pod) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: is, reason }) => [type, reason ?? is]));

/** A node with a kubelet, and pods that are put on it. */
export class KubeletLab {
  readonly root = mkdtempSync(path.join(tmpdir(), 'kubelet-lab-'));
  readonly cluster = new FakeCluster({ nodes: [{ name: 'rack-1' }], namespaces: [NAMESPACE] });
  readonly store = this.cluster.store;
  readonly kubelets: FakeKubelets;
  readonly faults: NodeFaults;

  constructor(options: Partial<KubeletsOptions> = {}) {
    this.kubelets = new FakeKubelets(this.store, this.cluster.events, { root: this.root, ...options });
    this.faults = new NodeFaults(this.cluster, this.kubelets);
  }

  /** On the node, with a script for a container. */
  place(name: string, spec: Partial<PodSpec> & { containers: Container[] }): void {
    this.store.create('pods', NAMESPACE, {
      metadata: { name },
      spec: { nodeName: 'rack-1', restartPolicy: 'Never', terminationGracePeriodSeconds: 5, ...spec },
      status: { phase: 'Pending' },
    });
  }

  get(name: string): Pod | undefined {
    return this.store.get('pods', NAMESPACE, name);
  }

  /** The pod once it is so. */
  async until(name: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
    const now = this.get(name);
    return now && isSo(now) ? now : this.next(name, (pod, isGone) => !isGone && isSo(pod));
  }

  /** The pod once it runs and has written something. */
  async speaking(name: string): Promise<Pod> {
    const pod = await this.until(name, isRunning);
    const log = this.kubelets.kubeletOf('rack-1')?.runOf(pod)?.main[0]?.log;
    while (log && !log.start.next) await log.more(new AbortController().signal);
    return pod;
  }

  /** Its last state. */
  gone(name: string): Promise<Pod> {
    return this.next(name, (_, isGone) => isGone);
  }

  /** What is kept of what it wrote, in one text. */
  log(name: string): string {
    const pod = this.get(name);
    const [container] = (pod && this.kubelets.kubeletOf('rack-1')?.runOf(pod)?.main) ?? [];
    const texts: string[] = [];
    for (let entry = container?.log.start.next; entry; entry = entry.next) texts.push(entry.bytes.toString());
    return texts.join('');
  }

  /** What was told of a pod, in order. */
  events(name: string): string[] {
    return this.store
      .list('events', NAMESPACE)
      .filter(({ involvedObject }) => involvedObject.name === name)
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }

  async close(): Promise<void> {
    await this.kubelets.close();
    this.cluster.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  private next(name: string, isSo: (pod: Pod, isGone: boolean) => boolean): Promise<Pod> {
    return new Promise((resolve) => {
      const unlisten = this.store.onChange(({ kind, type, object }) => {
        if (kind !== 'pods' || object.metadata.name !== name || !isSo(object as Pod, type === 'DELETED')) return;
        unlisten();
        resolve(object as Pod);
      });
    });
  }
}
