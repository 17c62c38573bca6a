import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { AttemptFailure, RunErrorCode } from '../contracts/attempt.js';

/** Codes of the platform that mean the same to a run. */
const SHARED_CODES: ReadonlySet<string> = new Set<RunErrorCode>([
  'BACKEND_NOT_BUILT',
  'BAD_SPEC',
  'CAPABILITY_MISSING',
  'CLUSTER_AUTH',
  'CLUSTER_UNREACHABLE',
  'NAME_TAKEN',
  'PAYLOAD_TOO_LARGE',
  'SECRET_MISSING',
]);

const isSharedCode = (type: string | null | undefined): type is RunErrorCode =>
  typeof type === 'string' && SHARED_CODES.has(type);

/** What an activity that gave up means for the attempt. */
export function attemptFailureOf(error: unknown): AttemptFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === 'SCHEDULE_TO_START') {
      return {
        code: 'NODE_LOST',
        message: 'no worker of the host that serves this runtime took the job within 10 minutes',
      };
    }
    return { code: 'PLATFORM_ERROR', message: `the platform gave up: ${cause.timeoutType} timeout` };
  }
  if (cause instanceof ApplicationFailure) {
    return { code: isSharedCode(cause.type) ? cause.type : 'PLATFORM_ERROR', message: cause.message };
  }
  return { code: 'PLATFORM_ERROR', message: cause instanceof Error ? cause.message : 'unknown failure' };
}
