import { deleteObject } from './fake-deletion.js';
import type { EventRecorder } from './fake-events.js';
import { disrupted } from './fake-evictions.js';
import type { Condition, Node, Pod } from './fake-objects.js';
import { WorkQueue } from './fake-queue.js';
import { hasEnded } from './fake-quota.js';
import { unfitness, unschedulable } from './fake-scheduling.js';
import { type FakeStore, timestamp } from './fake-store.js';

const SCHEDULER = 'default-scheduler';
const PREEMPTING = `${SCHEDULER}: preempting to accommodate a higher priority pod`;

/** Binds pods to nodes that have room for them, tells why there is none, and makes room for pods of a higher priority. */
export class Scheduler {
  private readonly waiting = new Map<string, Pod>();
  private readonly bound = new Map<string, Map<string, Pod>>();
  private readonly queue: WorkQueue;

  constructor(
    private readonly store: FakeStore,
    private readonly events: EventRecorder,
    scheduleMs: number,
  ) {
    this.queue = new WorkQueue(() => this.run(), scheduleMs);
    store.onChange(({ kind, type, object }) => {
      if (kind === 'pods') this.see(object as Pod, type === 'DELETED');
      else if (kind === 'nodes') this.queue.add('all');
    });
  }

  close(): void {
    this.queue.close();
  }

  /** Ends a pod as one does that has to make way. */
  preempt(pod: Pod, by: string): void {
    disrupted(this.store, pod, 'PreemptionByScheduler', PREEMPTING);
    const message = `Preempted by pod ${by} on node ${pod.spec.nodeName}`;
    this.events.record('pods', pod, { type: 'Normal', reason: 'Preempted', message, component: SCHEDULER });
    deleteObject(this.store, 'pods', pod);
  }

  private see(pod: Pod, isGone: boolean): void {
    const { metadata, spec } = pod;
    const isOver = isGone || hasEnded(pod);
    if (spec.nodeName) {
      this.waiting.delete(metadata.uid);
      const there = this.on(spec.nodeName);
      if (isOver) there.delete(metadata.uid);
      else there.set(metadata.uid, pod);
      if (isOver && this.waiting.size > 0) this.queue.add('all');
      return;
    }
    if (isOver || metadata.deletionTimestamp) {
      this.waiting.delete(metadata.uid);
      return;
    }
    if (!this.waiting.has(metadata.uid)) this.queue.add('all');
    this.waiting.set(metadata.uid, pod);
  }

  private on(node: string): Map<string, Pod> {
    const there = this.bound.get(node) ?? new Map<string, Pod>();
    this.bound.set(node, there);
    return there;
  }

  private run(): void {
    const nodes = this.store.list('nodes');
    const inTurn = [...this.waiting.values()].sort((a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0));
    for (const pod of inTurn) this.place(pod, nodes);
  }

  private place(pod: Pod, nodes: readonly Node[]): void {
    const unfit = nodes.map((node) => ({ node, why: unfitness(pod, node, [...this.on(node.metadata.name).values()]) }));
    const fit = unfit
      .filter(({ why }) => why === undefined)
      .map(({ node }) => node)
      .sort((a, b) => this.on(a.metadata.name).size - this.on(b.metadata.name).size)[0];
    if (fit) {
      this.bind(pod, fit.metadata.name);
      return;
    }
    const message = unschedulable(unfit.flatMap(({ why }) => why ?? []));
    this.refuse(pod, message);
    for (const { node, why } of unfit) if (why && !why.isHopeless && this.makeRoom(pod, node)) return;
  }

  private bind(pod: Pod, nodeName: string): void {
    const { namespace = '', name } = pod.metadata;
    this.store.update('pods', namespace, name, ({ spec, status }) => {
      spec.nodeName = nodeName;
      status.conditions = [condition('True')];
    });
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    this.events.record('pods', pod, { type: 'Normal', reason: 'Scheduled', message, component: SCHEDULER });
  }

  private refuse(pod: Pod, message: string): void {
    if (pod.status.conditions?.some((each) => each.message === message)) return;
    const { namespace = '', name } = pod.metadata;
    this.store.update('pods', namespace, name, ({ status }) => {
      status.conditions = [condition('False', message)];
    });
    this.events.record('pods', pod, { type: 'Warning', reason: 'FailedScheduling', message, component: SCHEDULER });
  }

  /** Whether pods that matter less make way. */
  private makeRoom(pod: Pod, node: Node): boolean {
    const there = [...this.on(node.metadata.name).values()];
    const lesser = there
      .filter(({ spec }) => (spec.priority ?? 0) < (pod.spec.priority ?? 0))
      .sort((a, b) => (a.spec.priority ?? 0) - (b.spec.priority ?? 0));
    if (lesser.some(({ metadata }) => metadata.deletionTimestamp)) return true;
    for (let count = 1; count <= lesser.length; count += 1) {
      const victims = lesser.slice(0, count);
      if (
        unfitness(
          pod,
          node,
          there.filter((each) => !victims.includes(each)),
        )
      )
        continue;
      for (const victim of victims) this.preempt(victim, pod.metadata.uid);
      return true;
    }
    return false;
  }
}

const condition = (status: 'True' | 'False', message?: string): Condition => ({
  ...{ type: 'PodScheduled', status, lastProbeTime: null, lastTransitionTime: timestamp() },
  ...(message !== undefined && { reason: 'Unschedulable', message }),
});
