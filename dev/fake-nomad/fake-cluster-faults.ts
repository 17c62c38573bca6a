import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeClients } from './fake-client.js';
import type { Evaluations } from './fake-evaluations.js';
import type { FakeNode } from './fake-nodes.js';
import { type Allocation, type FakeState, isTerminal } from './fake-state.js';
import { isSince } from './fake-version.js';

const NS_PER_MS = 1_000_000;
/** A timer that is longer would end at once. */
const LONGEST_MS = 2_147_483_647;

interface Struck {
  state: FakeState;
  nodes: ReadonlyMap<string, FakeNode>;
  clients: FakeClients;
  evaluations: Evaluations;
  version: string;
}

/** What befalls nodes and what runs on them. */
export class ClusterFaults {
  private readonly knowsDisconnect: boolean;
  private readonly knowsStopAfter: boolean;

  constructor(private readonly struck: Struck) {
    this.knowsDisconnect = isSince(struck.version, [1, 8]);
    this.knowsStopAfter = !isSince(struck.version, [1, 10]);
  }

  /** Its client is out of reach at once; the servers notice after so long. What runs there runs on. */
  async loseNode(name: string, noticedAfterMs = 0): Promise<void> {
    const node = this.node(name);
    node.isConnected = false;
    if (noticedAfterMs > 0) await sleep(noticedAfterMs);
    if (node.isConnected) return;
    node.status = 'down';
    this.touch(node);
    for (const allocation of this.liveOn(node)) this.lose(allocation);
  }

  /** Its client is back, tells what it has, and stops what it should not have, after so long. */
  async returnNode(name: string, stopsAfterMs = 0): Promise<void> {
    const node = this.node(name);
    node.status = 'ready';
    this.touch(node);
    if (stopsAfterMs > 0) await sleep(stopsAfterMs);
    node.isConnected = true;
    this.struck.clients.reconnected(node);
    this.struck.evaluations.unblock();
  }

  /** What runs there is stopped, counts as done, and never runs again. */
  drain(name: string): void {
    const node = this.node(name);
    Object.assign(node, { isDraining: true, isEligible: false });
    this.touch(node);
    for (const allocation of this.liveOn(node)) {
      allocation.DesiredTransition = { Migrate: true };
      this.struck.evaluations.stop(allocation, 'alloc is being migrated');
      this.evaluate(allocation, 'node-drain');
    }
  }

  setEligible(name: string, isEligible: boolean): void {
    const node = this.node(name);
    Object.assign(node, { isEligible, isDraining: false });
    this.touch(node);
    this.struck.evaluations.unblock();
  }

  /** Makes way for a job that matters more; another takes its place. */
  preempt(job: string): void {
    for (const allocation of this.liveOf(job)) {
      const by = randomUUID();
      Object.assign(allocation, { PreemptedByAllocation: by, isReplaced: true });
      this.struck.evaluations.stop(allocation, `Preempted by alloc ID ${by}`, 'evict');
      this.evaluate(allocation, 'preemption');
    }
  }

  /** What watches its processes is killed: they live on. */
  killExecutor(job: string): void {
    for (const task of this.tasksOf(job)) task.loseExecutor();
  }

  /** Memory runs out. Whether its driver is told why depends on the driver, and on the kernel. */
  outOfMemory(job: string, isTold: boolean): void {
    for (const task of this.tasksOf(job)) task.outOfMemory(isTold);
  }

  private lose(allocation: Allocation): void {
    const { Disconnect, StopAfterClientDisconnect } = allocation.group;
    const { Replace = true, LostAfter } = (this.knowsDisconnect && Disconnect) || {};
    if (!Replace) {
      allocation.ClientStatus = 'unknown';
      allocation.ClientDescription = 'alloc is unknown since its node is disconnected';
      this.struck.state.putAllocation(allocation, this.struck.state.next());
      this.evaluate(allocation, 'node-update');
      if (LostAfter)
        this.later(LostAfter / NS_PER_MS, () => allocation.ClientStatus === 'unknown' && this.end(allocation));
      return;
    }
    if (this.knowsStopAfter && StopAfterClientDisconnect) this.loseForNow(allocation, StopAfterClientDisconnect);
    else {
      allocation.isReplaced = true;
      this.end(allocation);
    }
  }

  /** Another takes its place, but not before a client without a server has stopped this one. */
  private loseForNow(allocation: Allocation, afterNs: number): void {
    const { Namespace, JobID } = allocation;
    const afterMs = afterNs / NS_PER_MS;
    const followUp = this.struck.state.addEvaluation(
      {
        ...{ Namespace, JobID, Status: 'pending', TriggeredBy: 'alloc-failure' },
        ...{ StatusDescription: 'created for delayed rescheduling' },
        WaitUntil: new Date(Date.now() + afterMs).toISOString(),
      },
      this.struck.state.next(),
    );
    allocation.FollowupEvalID = followUp.ID;
    this.end(allocation);
    this.later(afterMs, () => {
      allocation.isReplaced = true;
      this.struck.evaluations.process(followUp);
    });
  }

  private end(allocation: Allocation): void {
    Object.assign(allocation, {
      ...{ ClientStatus: 'lost', ClientDescription: 'alloc is lost since its node is down' },
      ...{ DesiredStatus: 'stop', DesiredDescription: 'alloc is lost since its node is down' },
    });
    this.struck.state.putAllocation(allocation, this.struck.state.next());
    this.struck.evaluations.told(allocation);
    this.evaluate(allocation, 'node-update');
  }

  private later(afterMs: number, act: () => void): void {
    if (afterMs <= LONGEST_MS) setTimeout(act, afterMs).unref();
  }

  private evaluate({ Namespace, JobID, NodeID }: Allocation, TriggeredBy: string): void {
    this.struck.evaluations.create({ Namespace, JobID, NodeID, TriggeredBy }, this.struck.state.next());
  }

  private touch(node: FakeNode): void {
    node.modifyIndex = this.struck.state.next();
    this.struck.state.touch('nodes', node.modifyIndex);
  }

  private node(name: string): FakeNode {
    const found = [...this.struck.nodes.values()].find((node) => node.name === name);
    if (!found) throw new Error(`there is no node ${name}`);
    return found;
  }

  private liveOn(node: FakeNode): Allocation[] {
    return [...this.struck.state.allocations.values()].filter(
      (allocation) => allocation.NodeID === node.id && !isTerminal(allocation),
    );
  }

  private liveOf(job: string): Allocation[] {
    return [...this.struck.state.allocations.values()].filter(
      (allocation) => allocation.JobID === job && !isTerminal(allocation),
    );
  }

  private tasksOf(job: string) {
    return this.liveOf(job).flatMap(({ ID }) => this.struck.clients.runs.get(ID)?.tasks ?? []);
  }
}
