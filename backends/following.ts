import type { AttemptFailure } from '../contracts/attempt.js';
import type { AllocationEvent } from './backend.js';

/** What a job with the right nonce printed in place of a record; a log that may be short is to blame before that. */
export function badRecord(fault: string, isWhole: boolean): AllocationEvent {
  const failure: AttemptFailure = isWhole
    ? { code: 'BAD_RECORD', message: `the record that it printed is none: ${fault}` }
    : { code: 'RESULT_LOST', message: `its log may be short, and the record in it is none: ${fault}` };
  return { kind: 'failed', failure };
}

/**
 * How long a job had run when it was first seen here, ms; times are epoch ms, and absent where they are not known. A
 * node's clock may be wrong: nothing started before it was submitted, and what was submitted just now has just started.
 */
export function ageOf(startedAt: number | undefined, submittedAt: number | undefined): number {
  if (submittedAt === undefined || startedAt === undefined) return 0;
  return Math.max(0, Date.now() - Math.max(startedAt, submittedAt));
}
