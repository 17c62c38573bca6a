import { randomUUID } from 'node:crypto';
import type { JobDocument, TaskGroup } from './fake-documents.js';

type Table = 'jobs' | 'evals' | 'allocs' | 'nodes';

export interface StoredJob extends JobDocument {
  Name: string;
  Namespace: string;
  NodePool: string;
  Status: 'pending' | 'running' | 'dead';
  Stop: boolean;
  Version: number;
  /** Nanoseconds, as all times here but those of task states. */
  SubmitTime: number;
  CreateIndex: number;
  ModifyIndex: number;
  JobModifyIndex: number;
}

export type EvaluationStatus = 'pending' | 'complete' | 'failed' | 'canceled' | 'blocked';

/** Empty fields are left out on the wire. */
export interface Evaluation {
  ID: string;
  Namespace: string;
  Priority: number;
  Type: string;
  TriggeredBy: string;
  JobID: string;
  JobModifyIndex?: number;
  NodeID?: string;
  Status: EvaluationStatus;
  StatusDescription?: string;
  WaitUntil?: string;
  PreviousEval?: string;
  BlockedEval?: string;
  FailedTGAllocs?: Record<string, PlacementMetrics>;
  ClassEligibility?: Record<string, boolean>;
  QuotaLimitReached?: string;
  QueuedAllocations?: Record<string, number>;
  SnapshotIndex?: number;
  CreateIndex: number;
  ModifyIndex: number;
  CreateTime: number;
  ModifyTime: number;
}

type Counts = Record<string, number> | null;

/** Why a group found no place. Here what is empty is `null`. */
export interface PlacementMetrics {
  AllocationTime: number;
  ClassExhausted: Counts;
  ClassFiltered: Counts;
  CoalescedFailures: number;
  ConstraintFiltered: Counts;
  DimensionExhausted: Counts;
  NodesAvailable: Record<string, number>;
  NodesEvaluated: number;
  NodesExhausted: number;
  NodesFiltered: number;
  NodesInPool: number;
  QuotaExhausted: string[] | null;
  ResourcesExhausted: Record<string, object> | null;
  ScoreMetaData: null;
  Scores: null;
}

export interface TaskEvent {
  Type: string;
  Time: number;
  DisplayMessage: string;
  Message: string;
  Details: Record<string, string>;
  ExitCode: number;
  Signal: number;
  FailsTask: boolean;
  DriverError: string;
  RestartReason: string;
}

export interface TaskState {
  State: 'pending' | 'running' | 'dead';
  Failed: boolean;
  Restarts: number;
  LastRestart: string | null;
  StartedAt: string | null;
  FinishedAt: string | null;
  Events: TaskEvent[];
}

export type ClientStatus = 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown';

export interface Allocation {
  ID: string;
  EvalID: string;
  Name: string;
  Namespace: string;
  NodeID: string;
  NodeName: string;
  JobID: string;
  /** As it was when this was placed. */
  Job: StoredJob;
  TaskGroup: string;
  group: TaskGroup;
  DesiredStatus: 'run' | 'stop' | 'evict';
  DesiredDescription: string;
  ClientStatus: ClientStatus;
  ClientDescription: string;
  TaskStates: Record<string, TaskState> | null;
  PreviousAllocation: string;
  NextAllocation: string;
  FollowupEvalID: string;
  PreemptedByAllocation: string;
  DesiredTransition: { Migrate: boolean | null };
  devices: { Vendor: string; Type: string; Name: string; DeviceIDs: string[] }[];
  /** Another takes its place, though it counts as placed otherwise. */
  isReplaced: boolean;
  CreateIndex: number;
  ModifyIndex: number;
  CreateTime: number;
  ModifyTime: number;
}

/** Times of the wire: nanoseconds since 1970, of the precision that a double has. */
export const nanoseconds = (): number => Date.now() * 1_000_000;

export const jobKey = (namespace: string, id: string): string => `${namespace}\0${id}`;
export const keyOf = ({ Namespace, JobID }: { Namespace: string; JobID: string }): string => jobKey(Namespace, JobID);

export const isClientTerminal = ({ ClientStatus }: Allocation): boolean =>
  ClientStatus === 'complete' || ClientStatus === 'failed' || ClientStatus === 'lost';
/** For the server it is over, though a client may still run it. */
export const isTerminal = (allocation: Allocation): boolean =>
  allocation.DesiredStatus !== 'run' || isClientTerminal(allocation);

/** What the servers keep, with one index that every write raises; what waits is woken by the key that it waits for. */
export class FakeState {
  readonly jobs = new Map<string, StoredJob>();
  readonly evaluations = new Map<string, Evaluation>();
  readonly evaluationsOf = new Map<string, Evaluation[]>();
  readonly allocations = new Map<string, Allocation>();
  readonly allocationsOf = new Map<string, Allocation[]>();
  readonly tables: Record<Table, number> = { jobs: 1, evals: 1, allocs: 1, nodes: 1 };
  private last = 10;
  private readonly waiting = new Map<string, Set<() => void>>();

  get index(): number {
    return this.last;
  }

  /** One entry of the log of the servers: the index that all it writes bears. */
  next(): number {
    this.last += 1;
    return this.last;
  }

  putJob(job: StoredJob, index: number): void {
    job.ModifyIndex = index;
    this.jobs.set(jobKey(job.Namespace, job.ID), job);
    this.touch('jobs', index, jobKey(job.Namespace, job.ID));
  }

  dropJob(job: StoredJob, index: number): void {
    this.jobs.delete(jobKey(job.Namespace, job.ID));
    this.touch('jobs', index, jobKey(job.Namespace, job.ID));
  }

  addEvaluation(
    parts: Pick<Evaluation, 'Namespace' | 'JobID' | 'TriggeredBy' | 'Status'> & Partial<Evaluation>,
    index: number,
  ): Evaluation {
    const now = nanoseconds();
    const evaluation: Evaluation = {
      ID: randomUUID(),
      Priority: 50,
      Type: 'batch',
      ...parts,
      CreateIndex: index,
      ModifyIndex: index,
      CreateTime: now,
      ModifyTime: now,
    };
    this.evaluations.set(evaluation.ID, evaluation);
    append(this.evaluationsOf, keyOf(evaluation), evaluation);
    this.touch('evals', index, evaluation.ID, keyOf(evaluation));
    return evaluation;
  }

  putEvaluation(evaluation: Evaluation, index: number): void {
    evaluation.ModifyIndex = index;
    evaluation.ModifyTime = nanoseconds();
    this.touch('evals', index, evaluation.ID, keyOf(evaluation));
  }

  putAllocation(allocation: Allocation, index: number): void {
    if (!this.allocations.has(allocation.ID)) {
      allocation.CreateIndex = index;
      allocation.CreateTime = nanoseconds();
      this.allocations.set(allocation.ID, allocation);
      append(this.allocationsOf, keyOf(allocation), allocation);
    }
    allocation.ModifyIndex = index;
    allocation.ModifyTime = nanoseconds();
    this.touch('allocs', index, allocation.ID, keyOf(allocation));
  }

  dropAllocations(key: string, gone: ReadonlySet<Allocation>, index: number): void {
    const kept = (this.allocationsOf.get(key) ?? []).filter((allocation) => !gone.has(allocation));
    if (kept.length > 0) this.allocationsOf.set(key, kept);
    else this.allocationsOf.delete(key);
    for (const { ID } of gone) this.allocations.delete(ID);
    this.touch('allocs', index, key, ...[...gone].map(({ ID }) => ID));
  }

  keepEvaluations(key: string, kept: Evaluation[], index: number): void {
    for (const { ID } of this.evaluationsOf.get(key) ?? []) this.evaluations.delete(ID);
    for (const evaluation of kept) this.evaluations.set(evaluation.ID, evaluation);
    if (kept.length > 0) this.evaluationsOf.set(key, kept);
    else this.evaluationsOf.delete(key);
    this.touch('evals', index, key);
  }

  /** Wakes who waits for one of the keys, or for anything of the table. */
  touch(table: Table, index: number, ...keys: string[]): void {
    this.tables[table] = index;
    for (const key of [table, ...keys]) {
      const woken = this.waiting.get(key);
      this.waiting.delete(key);
      for (const wake of woken ?? []) wake();
    }
  }

  /** Until something of a key changes, or the time is up, or the caller goes. */
  changed(key: string, forMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.waiting.get(key) ?? new Set();
      this.waiting.set(key, waiting);
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.waiting.get(key) === waiting) this.waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(wake, forMs);
      signal.addEventListener('abort', wake);
      waiting.add(wake);
    });
  }

  /** All that waits goes on, as on an agent that stops. */
  wakeAll(): void {
    for (const key of [...this.waiting.keys()]) for (const wake of this.waiting.get(key) ?? []) wake();
  }
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
