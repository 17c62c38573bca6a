import { type AttemptEnd, type ErrorClass, RUN_ERROR_CODES, type RunErrorCode } from '../contracts/attempt.js';
import type { Grader } from '../contracts/grader.js';
import type { Score } from '../contracts/run.js';
import { grade } from './graders.js';
import type { JobRecord } from './record.js';

export type Verdict =
  | { outcome: 'passed' | 'failed' | 'cancelled'; reason?: string; scores?: Score[] }
  | { outcome: 'errored'; errorClass: ErrorClass; errorCode: RunErrorCode; reason: string; scores?: Score[] };

export interface Ended {
  graders: readonly Grader[];
  end: AttemptEnd;
  record?: JobRecord;
  timeoutSec: number;
  setupSec: number;
  graderSec: number;
  memoryMb?: number;
}

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** 128 + SIGKILL, in whatever words the orchestrator says it. */
const KILLED = /\b137\b/;

export function errored(errorCode: RunErrorCode, reason: string): Verdict {
  return { outcome: 'errored', errorClass: RUN_ERROR_CODES[errorCode], errorCode, reason };
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A kill without evidence of its cause is the agent's own; too little memory is the usual one. */
function memoryHint(memoryMb: number | undefined): string {
  const declared = memoryMb === undefined ? 'declare it' : `it is ${memoryMb} now`;
  return `; if it ran out of memory, raise \`resources.memoryMb\` (${declared})`;
}

/** What kept the graders from deciding. */
function recordFailure(record: JobRecord, ended: Ended): Verdict | undefined {
  const { graders, timeoutSec, setupSec } = ended;
  if (record.isLost) return errored('RESULT_LOST', 'what the job printed could not be written: its disk was full');
  if (record.toolMissing !== undefined) {
    return errored('TOOL_MISSING', `\`${record.toolMissing}\`, which this case needs, is missing where the job ran`);
  }
  if (record.timer === 'setup') {
    return errored('SETUP_FAILED', `setup took ${seconds(record.setupMs)}, more than the allowed ${setupSec} s`);
  }
  if (record.setupFailed) {
    const { index, status } = record.setupFailed;
    const step = index === 0 ? 'preparing the files or the checkout' : `setup step ${index}`;
    return errored('SETUP_FAILED', `${step} ended with exit code ${status}`);
  }
  if (record.timer === 'command') {
    return errored('TIMEOUT', `stopped after ${seconds(record.commandMs)}: \`timeoutSec\` is ${timeoutSec}`);
  }
  if (record.status === null) return errored('SETUP_FAILED', 'the command never ran');
  const isExpected = graders.some((grader) => grader.kind === 'exit-code' && grader.expected === record.status);
  if (isExpected) return undefined;
  if (record.isUnparsable)
    return errored('SYNTAX_ERROR', `exit code ${record.status}: the shell could not parse the command`);
  if (record.status === NOT_FOUND) return errored('COMMAND_NOT_FOUND', 'exit code 127: the command was not found');
  if (record.status === NOT_EXECUTABLE)
    return errored('COMMAND_NOT_FOUND', 'exit code 126: the command cannot be executed');
  return undefined;
}

function verdictOfRecord(record: JobRecord, ended: Ended): Verdict {
  const { graders, graderSec } = ended;
  return recordFailure(record, ended) ?? gradedVerdict(record, graders, graderSec);
}

/** What graders say of a record whose command ran; without any, exit code 0 is what passes. */
function gradedVerdict(record: JobRecord, graders: readonly Grader[], graderSec?: number): Verdict {
  if (graders.length === 0) {
    if (record.status === 0) return { outcome: 'passed', scores: [] };
    return { outcome: 'failed', reason: `exit code ${record.status}`, scores: [] };
  }
  const { status: exitCode, answer, answerCut, graders: commandGraders } = record;
  const scores = grade(graders, { exitCode, answer, answerCut, commandGraders, graderSec });
  const failed = scores.find((score) => !score.passed);
  if (!failed) return { outcome: 'passed', scores };
  return { outcome: 'failed', reason: failed.detail, scores };
}

/**
 * The conclusion over one attempt. First that applies:
 * 1. a record in hand is the verdict, whatever the end says: output that could not be kept, a missing tool, a failed setup, the command's timer, a
 *    command that was not found, else the graders (without any: exit code 0),
 * 2. stopped by us: cancelled,
 * 3. evidence of something else: its code,
 * 4. a normal end without a record: the agent's own doing.
 */
export function verdictOf(ended: Ended): Verdict {
  const { end, record, memoryMb } = ended;
  if (record) return verdictOfRecord(record, ended);
  switch (end.kind) {
    case 'cancelled':
      return { outcome: 'cancelled' };
    case 'failed':
      return errored(end.failure.code, end.failure.message);
    case 'record':
      return errored('RESULT_LOST', 'the result record was seen, and could not be read back');
    case 'silent': {
      const hint = KILLED.test(end.detail) ? memoryHint(memoryMb) : '';
      return errored('ABORTED', `ended without a result: ${end.detail}${hint}`);
    }
  }
}

/** The verdict of other graders over the record of a run that had one; none of them needs its job. */
export function regradedVerdict(record: JobRecord | undefined, graders: readonly Grader[]): Verdict {
  if (record) return gradedVerdict(record, graders);
  return errored('RESULT_LOST', 'its answer is no longer stored, so there is nothing to grade');
}

/** A harness that could not begin usually said why. */
export function withLastWords(verdict: Verdict, words: string): Verdict {
  if (verdict.outcome !== 'errored' || words === '') return verdict;
  return { ...verdict, reason: `${verdict.reason}; it said: ${words}` };
}
