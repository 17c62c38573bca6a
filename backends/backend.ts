import type { AttemptFailure } from '../contracts/attempt.js';
import type { LogMark } from '../contracts/log-events.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { RegistryCredential } from '../policy/job-parts.js';
import type { Program } from '../policy/process-job.js';
import type { JobRecord } from '../policy/record.js';
import type { PlainBytes } from '../policy/record-scanner.js';
import type { Allocation } from '../policy/sweep.js';

/** Name of the cluster object that runs one attempt, known before it exists. */
export interface AllocationRef {
  /** Deterministic and unique: deployment, run and attempt. */
  name: string;
  /** The secret that a genuine result record of this attempt carries. */
  nonce: string;
  /** When the cluster confirmed the allocation, epoch ms. Absent: it was never confirmed. */
  submittedAt?: number;
  /** What the cluster calls that which runs it, once one was seen: the verdict belongs to it, and to no other. */
  placedAs?: string;
  /** The last that was noted of its log. */
  mark?: LogMark;
}

/** What a backend is asked to run for a case. */
export interface Job {
  /** Everything the job reads, by flat file name, the wrapper included where there is one. */
  payload: ReadonlyMap<string, Uint8Array>;
  /**
   * A program to run in place of the wrapper, with no shell: it is given the payload's directory as its last argument,
   * and the nonce as EVERDICT_NONCE.
   */
  program?: Program;
  image?: string;
  /** For the registry of the image, and for nothing else. */
  registry?: RegistryCredential;
  resources: { cpuMillicores?: number; memoryMb?: number; gpu?: number };
  /** It is to reach nothing. */
  network?: 'none';
  /** From its start to its end, with the time it lingers after its record: beyond that nobody waits for it. */
  lifeMs: number;
  owner: JobOwner;
}

/** Whose a job is: labels for people and for sweeps, and what tells ours from others of the same name. */
export interface JobOwner {
  deployment: string;
  workspaceId: string;
  scorecardId?: string;
  runId: string;
  caseId: string;
  attempt: number;
  /** When it is surely over, epoch ms: what is left of it then is nobody's. */
  expiresAt: number;
}

export type LogStream = 'stdout' | 'stderr';

/** What is learnt while an allocation is watched. */
export type AllocationEvent =
  /** It is not placed, or has not started, and why; said once until that changes. Without a reason: it no longer waits. */
  | { kind: 'waiting'; detail?: string }
  /** What runs it was seen, under the cluster's own id; with what is known of where. */
  | { kind: 'placed'; as: string; provenance: Record<string, unknown> }
  /** Plain output: `at` is the offset of its first byte in what the job wrote. */
  | { kind: 'log'; stream: LogStream; at: number; bytes: Uint8Array }
  /** All that a stream holds, in place of what was told of it before. */
  | { kind: 'corrected'; stream: LogStream; pieces: readonly PlainBytes[] }
  /** Where reading its stdout can go on, of which all that lies before was told. */
  | ({ kind: 'mark' } & LogMark)
  | { kind: 'record'; record: JobRecord }
  /** Ended normally by the orchestrator's word, its log complete, without a record. */
  | { kind: 'silent'; detail: string }
  /** Still without a record, in all that it had printed, when its time was up. It goes on until it is stopped. */
  | { kind: 'overdue'; afterMs: number }
  | { kind: 'failed'; failure: AttemptFailure };

export interface Watch {
  /** Where following goes on: offsets up to which the output is already kept. */
  from: Record<LogStream, number>;
  /** What is kept of a stream that is longer: what lies between may be left out. Absent: all of it matters. */
  keep?: KeptBytes;
  signal: AbortSignal;
  /** To be told whenever the cluster answers: what is silent for long need not be out of reach. */
  reached?(): void;
  /** After its start a job may go on for so long without a record, by a clock that nobody can set. */
  limitMs: number;
}

/** Bytes of a stream's beginning, and of its end. */
export interface KeptBytes {
  head: number;
  tail: number;
}

export type Submitted = 'created' | 'adopted' | 'lost' | 'taken' | 'over' | Unplaced;

/** The cluster would not even take it in order to wait, for as long as its runtime is patient. */
export interface Unplaced {
  unplaced: string;
}

export interface AllocationPage {
  allocations: Allocation[];
  /** Where the next page begins. Absent: this is the last. */
  next?: string;
}

/** Code that speaks to one cluster kind. Every verb can be repeated. */
export interface Backend {
  readonly kind: RuntimeKind;
  /**
   * Creates the allocation, or adopts the one of that name if it is ours.
   * `lost`: it was confirmed before and is now provably absent. Throws on unknown: a failed read never leads to a create.
   * Once `signal` aborts nothing more is asked for; what is being created then may still be.
   * `over`: `isLive`, asked once the allocation is there and before it starts anything, said that its attempt has ended.
   */
  submit(
    job: Job,
    allocation: AllocationRef,
    isLive?: () => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<Submitted>;
  /** Follows until the record or the end, which is its last event; ends without one only if `signal` aborts. */
  watch(allocation: AllocationRef, watch: Watch): AsyncIterable<AllocationEvent>;
  /** Removes the allocation and reads back that nothing of it is left. Succeeds for what never existed. */
  stop(allocation: AllocationRef): Promise<void>;
  /**
   * A page of the allocations of a deployment that exist, with or without a job that runs: the first, or the one that
   * begins where an earlier page said.
   */
  list(deployment: string, from?: string): Promise<AllocationPage>;
  /** What is known of where it ran: host, node, image, what was enforced. */
  provenance(allocation: AllocationRef): Promise<Record<string, unknown>>;
}
