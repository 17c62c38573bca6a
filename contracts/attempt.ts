import { z } from 'zod';

/** Why a run errored: who is to blame. */
export const ErrorClass = z.enum(['infra', 'config', 'harness', 'agent']);
export type ErrorClass = z.infer<typeof ErrorClass>;

/** Codes of a run that errored; `policy/retry` says which get a new attempt. */
export const RUN_ERROR_CODES = {
  NODE_LOST: 'infra',
  EVICTED: 'infra',
  IMAGE_PULL_FAILED: 'infra',
  ALLOCATION_LOST: 'infra',
  RESULT_LOST: 'infra',
  PLACEMENT_TIMEOUT: 'infra',
  START_TIMEOUT: 'infra',
  CLUSTER_UNREACHABLE: 'infra',
  CLUSTER_AUTH: 'infra',
  NAME_TAKEN: 'infra',
  QUEUE_TIMEOUT: 'infra',
  PLATFORM_TERMINATED: 'infra',
  PLATFORM_ERROR: 'infra',
  DEADLINE_EXCEEDED: 'infra',
  OPERATOR_DECISION: 'infra',
  BACKEND_NOT_BUILT: 'config',
  BAD_SPEC: 'config',
  DEMAND_EXCEEDS_ENVELOPE: 'config',
  CAPABILITY_MISSING: 'config',
  SECRET_MISSING: 'config',
  IMAGE_UNAVAILABLE: 'config',
  PAYLOAD_TOO_LARGE: 'config',
  OOM_KILLED: 'config',
  SETUP_FAILED: 'harness',
  COMMAND_NOT_FOUND: 'harness',
  TOOL_MISSING: 'harness',
  SYNTAX_ERROR: 'harness',
  BAD_RECORD: 'harness',
  TIMEOUT: 'agent',
  ABORTED: 'agent',
} as const satisfies Record<string, ErrorClass>;
export type RunErrorCode = keyof typeof RUN_ERROR_CODES;

/** A failure of one attempt. `message` names a cause a human can act on, and holds no secret. */
export interface AttemptFailure {
  code: RunErrorCode;
  message: string;
}

/**
 * How an attempt ended, as `dispatch` found it. `record`: the result record is stored and is the verdict's ground.
 * `silent`: the job ended normally, its log is complete and holds no record. `failed`: evidence of something else.
 * `cancelled`: we stopped it. The record itself stays in Postgres.
 */
export type AttemptEnd =
  | { kind: 'record' }
  | { kind: 'silent'; detail: string }
  | { kind: 'failed'; failure: AttemptFailure }
  | { kind: 'cancelled' };

/** Why the fence let no attempt be opened. */
export type FenceRefusal =
  /** The ledger that granted has been replaced, or the grant already served an attempt. */
  | { reason: 'stale-grant' }
  /** The workspace has as many open runs as its quota allows. */
  | { reason: 'quota'; limit: number }
  | { reason: 'cancelled' }
  | { reason: 'settled' }
  /** Another attempt number is open, or this one is used up; `attempt` is the one to go on with. */
  | { reason: 'renumber'; attempt: number; isOpen: boolean };
