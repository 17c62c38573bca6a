import { randomUUID } from 'node:crypto';
import type { TaskGroup } from './fake-documents.js';
import { type FakeNode, type Room, roomOf } from './fake-nodes.js';
import { place } from './fake-scheduler.js';
import {
  type Allocation,
  type Evaluation,
  type FakeState,
  isClientTerminal,
  isTerminal,
  jobKey,
  keyOf,
  type PlacementMetrics,
  type StoredJob,
} from './fake-state.js';

/** Who runs what is placed. */
export interface Client {
  start(allocation: Allocation, node: FakeNode): void;
  stop(allocation: Allocation): void;
}

interface Held {
  node: FakeNode;
  room: Room;
  gpuIds: string[];
}

/** Compares what is registered with what is placed, and mends the difference; what has no place waits for one. */
export class Evaluations {
  /** By the key of their job, in the order in which they came. */
  private readonly blocked = new Map<string, Evaluation>();
  private readonly held = new Map<string, Held>();
  private isUnblocking = false;

  constructor(
    private readonly state: FakeState,
    private readonly nodes: ReadonlyMap<string, FakeNode>,
    private readonly client: Client,
  ) {}

  /** Made with what causes it, under one index, and worked off soon after. */
  create(parts: Pick<Evaluation, 'Namespace' | 'JobID' | 'TriggeredBy'> & Partial<Evaluation>, index: number) {
    const evaluation = this.state.addEvaluation({ Status: 'pending', ...parts }, index);
    setImmediate(() => this.process(evaluation));
    return evaluation;
  }

  /** There may be room for what waits. */
  unblock(): void {
    if (this.isUnblocking || this.blocked.size === 0) return;
    this.isUnblocking = true;
    setImmediate(() => {
      this.isUnblocking = false;
      for (const [key, evaluation] of [...this.blocked]) this.retry(key, evaluation);
    });
  }

  /** A client told something of an allocation. */
  told(allocation: Allocation): void {
    if (isClientTerminal(allocation)) this.release(allocation);
    this.judge(keyOf(allocation));
  }

  stop(allocation: Allocation, description: string, desired: 'stop' | 'evict' = 'stop'): void {
    allocation.DesiredStatus = desired;
    allocation.DesiredDescription = description;
    this.state.putAllocation(allocation, this.state.next());
    this.client.stop(allocation);
  }

  /** Its room on its node is free. */
  release({ ID }: Allocation): void {
    const held = this.held.get(ID);
    if (!held) return;
    this.held.delete(ID);
    held.node.giveBack(held.room, held.gpuIds);
    this.unblock();
  }

  /** Writes what has become of a job: the status follows from its evaluations and allocations. */
  judge(key: string): void {
    const job = this.state.jobs.get(key);
    if (!job) return;
    const status = this.statusOf(job, key);
    if (status === job.Status) return;
    job.Status = status;
    this.state.putJob(job, this.state.next());
  }

  private statusOf(job: StoredJob, key: string): StoredJob['Status'] {
    if (job.Stop) return 'dead';
    const allocations = this.state.allocationsOf.get(key) ?? [];
    if (allocations.some((allocation) => !isTerminal(allocation))) return 'running';
    const evaluations = this.state.evaluationsOf.get(key) ?? [];
    const isOpen = evaluations.some(({ Status }) => Status === 'pending' || Status === 'blocked');
    return isOpen ? 'pending' : 'dead';
  }

  /** Once: what is worked off stays as it is. */
  process(evaluation: Evaluation): void {
    if (evaluation.Status !== 'pending') return;
    const key = keyOf(evaluation);
    const job = this.state.jobs.get(key);
    evaluation.SnapshotIndex = this.state.index;
    if (!job || job.Stop) {
      this.stopAll(key);
      this.cancelBlocked(key, `evaluation "${evaluation.ID}" successful`);
      this.finish(evaluation, {});
    } else {
      this.stopOutdated(job, key);
      const { failed, queued } = this.fill(job, key, evaluation);
      if (Object.keys(failed).length === 0) this.finish(evaluation, { QueuedAllocations: queued });
      else this.block(evaluation, key, failed, queued);
    }
    this.judge(key);
  }

  private stopAll(key: string): void {
    for (const allocation of this.state.allocationsOf.get(key) ?? []) {
      if (!isTerminal(allocation)) this.stop(allocation, 'alloc not needed due to job update');
    }
  }

  private stopOutdated(job: StoredJob, key: string): void {
    for (const allocation of this.state.allocationsOf.get(key) ?? []) {
      const isCurrent = allocation.Job.CreateIndex === job.CreateIndex && allocation.Job.Version === job.Version;
      if (!isCurrent && !isTerminal(allocation)) this.stop(allocation, 'alloc is being updated due to job update');
    }
  }

  /** Places what is missing of every group, as far as there is room. What has ended is not missing. */
  private fill(job: StoredJob, key: string, evaluation: Evaluation) {
    const failed: Record<string, PlacementMetrics> = {};
    const queued: Record<string, number> = {};
    for (const group of job.TaskGroups) {
      const ofGroup = (this.state.allocationsOf.get(key) ?? []).filter(
        ({ TaskGroup, Job }) =>
          TaskGroup === group.Name && Job.CreateIndex === job.CreateIndex && Job.Version === job.Version,
      );
      const previous = ofGroup.findLast(({ isReplaced, NextAllocation }) => isReplaced && !NextAllocation);
      let missing = group.Count - ofGroup.filter(({ isReplaced }) => !isReplaced).length;
      while (missing > 0) {
        const placement = place(job, group, this.nodes.values());
        if ('metrics' in placement) {
          failed[group.Name] = placement.metrics;
          break;
        }
        this.start(job, group, placement.node, evaluation, previous);
        missing -= 1;
      }
      queued[group.Name] = Math.max(0, missing);
    }
    return { failed, queued };
  }

  private start(job: StoredJob, group: TaskGroup, node: FakeNode, by: Evaluation, previous?: Allocation): void {
    const room = roomOf(group);
    const gpuIds = node.take(room);
    const device = { Vendor: 'nvidia', Type: 'gpu', Name: 'Fake', DeviceIDs: gpuIds };
    const allocation: Allocation = {
      ID: randomUUID(),
      EvalID: by.ID,
      Name: `${job.ID}.${group.Name}[0]`,
      Namespace: job.Namespace,
      NodeID: node.id,
      NodeName: node.name,
      JobID: job.ID,
      Job: { ...job },
      TaskGroup: group.Name,
      group,
      DesiredStatus: 'run',
      DesiredDescription: '',
      ClientStatus: 'pending',
      ClientDescription: '',
      TaskStates: null,
      PreviousAllocation: previous?.ID ?? '',
      NextAllocation: '',
      FollowupEvalID: '',
      PreemptedByAllocation: '',
      DesiredTransition: { Migrate: null },
      devices: gpuIds.length > 0 ? [device] : [],
      isReplaced: false,
      CreateIndex: 0,
      ModifyIndex: 0,
      CreateTime: 0,
      ModifyTime: 0,
    };
    const index = this.state.next();
    this.state.putAllocation(allocation, index);
    if (previous) {
      previous.NextAllocation = allocation.ID;
      this.state.putAllocation(previous, index);
    }
    this.held.set(allocation.ID, { node, room, gpuIds });
    this.client.start(allocation, node);
  }

  private block(
    evaluation: Evaluation,
    key: string,
    FailedTGAllocs: Record<string, PlacementMetrics>,
    QueuedAllocations: Record<string, number>,
  ): void {
    const { Namespace, JobID, JobModifyIndex, Priority } = evaluation;
    const blocked = this.state.addEvaluation(
      {
        ...{ Namespace, JobID, JobModifyIndex, Priority, FailedTGAllocs },
        ...{ TriggeredBy: 'queued-allocs', Status: 'blocked', PreviousEval: evaluation.ID },
        ...{ StatusDescription: 'created to place remaining allocations', ClassEligibility: {} },
      },
      this.state.next(),
    );
    this.cancelBlocked(key, `existing blocked evaluation exists for job "${JobID}"`);
    this.blocked.set(key, blocked);
    this.finish(evaluation, { FailedTGAllocs, QueuedAllocations, BlockedEval: blocked.ID });
  }

  private retry(key: string, evaluation: Evaluation): void {
    const job = this.state.jobs.get(key);
    if (!job || job.Stop || this.blocked.get(key) !== evaluation) return;
    const { failed, queued } = this.fill(job, key, evaluation);
    if (Object.keys(failed).length > 0) return;
    this.blocked.delete(key);
    delete evaluation.FailedTGAllocs;
    this.finish(evaluation, { QueuedAllocations: queued, StatusDescription: undefined });
    this.judge(key);
  }

  private cancelBlocked(key: string, why: string): void {
    const blocked = this.blocked.get(key);
    if (!blocked) return;
    this.blocked.delete(key);
    Object.assign(blocked, { Status: 'canceled', StatusDescription: why });
    this.state.putEvaluation(blocked, this.state.next());
  }

  private finish(evaluation: Evaluation, parts: Partial<Evaluation>): void {
    Object.assign(evaluation, { Status: 'complete' }, parts);
    this.state.putEvaluation(evaluation, this.state.next());
  }

  /** Forgets a job that is collected. */
  forget(job: StoredJob): void {
    this.blocked.delete(jobKey(job.Namespace, job.ID));
  }
}
