import type { AllocationEvent, AllocationRef, Job } from '../backends/backend.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import { allocationName } from '../policy/naming.js';
import type { JobRecord } from '../policy/record.js';
import { verdictOf } from '../policy/results.js';
import { nextStep } from '../policy/retry.js';

const NONCE = '00c0ffee00c0ffee';

/** What became of one attempt, as its events tell it. */
export interface CaseTold {
  events: AllocationEvent[];
  /** `passed`, or class and code. */
  outcome: string;
  isRetried: boolean;
  reason: string;
  output: string;
  waiting: (string | undefined)[];
}

let counter = 0;

/** A name that nothing else has, whose parts are those of a job. */
export function aCaseRef(): { ref: AllocationRef; owner: Job['owner'] } {
  counter += 1;
  const runId = `run_${String(counter).padStart(26, '0')}`;
  const owner = { deployment: 'lab', workspaceId: 'acme', runId, caseId: 'c', attempt: 1, expiresAt: 2e12 };
  return { ref: { name: allocationName('lab', runId, 1), nonce: NONCE }, owner };
}

export const aCaseJob = (owner: Job['owner'], parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hello\n')]]),
  image: 'r/x:1',
  resources: {},
  lifeMs: 60_000,
  owner,
  ...parts,
});

/** A record as the wrapper prints it. */
export function printedRecord(status = 0): string {
  const lines = ['version 1', `status ${status}`, 'timer none', 'setup_ms 1', 'command_ms 2', 'answer_from stdout'];
  const all = [...lines, 'answer_bytes 0', 'answer_cut 0', 'leftovers 0'];
  return `\n${[...all, `end ${all.length + 1}`].map((line) => `__EVERDICT_RESULT__ ${NONCE} ${line}\n`).join('')}`;
}

/** Of an attempt that was followed to its end. */
export function toldBy(events: AllocationEvent[]): CaseTold {
  const last = events.at(-1);
  const record: JobRecord | undefined = last?.kind === 'record' ? last.record : undefined;
  const end = last as AttemptEnd | undefined;
  if (!end) throw new Error('it has no end');
  const verdict = verdictOf({
    graders: [],
    end,
    ...(record && { record }),
    timeoutSec: 60,
    setupSec: 60,
    graderSec: 60,
  });
  const output = events.flatMap((event) => (event.kind === 'log' && event.stream === 'stdout' ? [event.bytes] : []));
  return {
    events,
    outcome: verdict.outcome === 'errored' ? `${verdict.errorClass} ${verdict.errorCode}` : verdict.outcome,
    isRetried: nextStep(verdict, 1, 2).kind === 'retry',
    reason: ('reason' in verdict && verdict.reason) || '',
    output: Buffer.concat(output).toString('utf8'),
    waiting: events.flatMap((event) => (event.kind === 'waiting' ? [event.detail] : [])),
  };
}

/** All that was said of where it runs. */
export const provenanceIn = (events: readonly AllocationEvent[]): Record<string, unknown> =>
  Object.assign({}, ...events.map((event) => (event.kind === 'placed' ? event.provenance : {})));
