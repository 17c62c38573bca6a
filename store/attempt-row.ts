import { type AttemptEnd, RUN_ERROR_CODES, type RunErrorCode } from '../contracts/attempt.js';
import type { LogMark } from '../contracts/log-events.js';
import type { AttemptView } from '../contracts/run.js';
import type { JobRecord } from '../policy/record.js';
import { decodeRecord } from './record-json.js';

export interface AttemptRow {
  run_id: string;
  attempt: number;
  pool_id: string;
  holder: string;
  seq: number;
  allocation: string;
  nonce: string;
  host_id: string | null;
  opened_at: Date;
  submitted_at: Date | null;
  closed_at: Date | null;
  cleanup_pending_at: Date | null;
  end_kind: AttemptEnd['kind'] | null;
  error_code: string | null;
  error_message: string | null;
  record: unknown;
  answer: Buffer | null;
  placed_as: string | null;
  log_mark: LogMark | null;
  waiting: string | null;
  provenance: Record<string, unknown>;
}

export const ATTEMPT_COLUMNS = `run_id, attempt, pool_id, holder, seq, allocation, nonce, host_id, opened_at, submitted_at,
  closed_at, cleanup_pending_at, end_kind, error_code, error_message, record, answer, placed_as, log_mark, waiting, provenance`;

export interface Attempt {
  runId: string;
  attempt: number;
  poolId: string;
  holder: string;
  seq: number;
  allocation: string;
  nonce: string;
  hostId?: string;
  /** Epoch ms, like all times here. */
  openedAt: number;
  submittedAt?: number;
  closedAt?: number;
  cleanupPendingAt?: number;
  end?: AttemptEnd;
  record?: JobRecord;
  /** What the cluster calls that which runs it. */
  placedAs?: string;
  /** Where its log can be read on. */
  mark?: LogMark;
  provenance: Record<string, unknown>;
}

const isRunErrorCode = (code: string): code is RunErrorCode => Object.hasOwn(RUN_ERROR_CODES, code);

function endOf({ end_kind, error_code, error_message }: AttemptRow): AttemptEnd | undefined {
  switch (end_kind) {
    case null:
      return undefined;
    case 'silent':
      return { kind: 'silent', detail: error_message ?? '' };
    case 'failed': {
      const code = error_code !== null && isRunErrorCode(error_code) ? error_code : 'PLATFORM_ERROR';
      return { kind: 'failed', failure: { code, message: error_message ?? '' } };
    }
    case 'record':
    case 'cancelled':
      return { kind: end_kind };
  }
}

export function toAttempt(stored: AttemptRow): Attempt {
  const end = endOf(stored);
  const record = decodeRecord(stored.record, stored.answer);
  return {
    runId: stored.run_id,
    attempt: stored.attempt,
    poolId: stored.pool_id,
    holder: stored.holder,
    seq: stored.seq,
    allocation: stored.allocation,
    nonce: stored.nonce,
    ...(stored.host_id !== null && { hostId: stored.host_id }),
    openedAt: stored.opened_at.getTime(),
    ...(stored.submitted_at && { submittedAt: stored.submitted_at.getTime() }),
    ...(stored.closed_at && { closedAt: stored.closed_at.getTime() }),
    ...(stored.cleanup_pending_at && { cleanupPendingAt: stored.cleanup_pending_at.getTime() }),
    ...(end && { end }),
    ...(record && { record }),
    ...(stored.placed_as !== null && { placedAs: stored.placed_as }),
    ...(stored.log_mark && { mark: stored.log_mark }),
    provenance: stored.provenance,
  };
}

function stateOf({ closed_at, cleanup_pending_at }: AttemptRow): AttemptView['state'] {
  if (closed_at) return 'closed';
  return cleanup_pending_at ? 'cleanup_pending' : 'open';
}

function endText({ end_kind, error_code, error_message }: AttemptRow): string | null {
  if (end_kind === null || end_kind === 'record' || end_kind === 'cancelled') return end_kind;
  return `${error_code ?? end_kind}: ${error_message ?? ''}`;
}

/** Usage is JSON by agreement only; what is not JSON is shown as text. */
function usageOf(record: JobRecord | undefined): unknown {
  if (!record?.usage) return null;
  const text = Buffer.from(record.usage).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const gradersOf = (record: JobRecord | undefined): AttemptView['graders'] =>
  (record?.graders ?? []).map(({ status, timedOut, ms, output }) => ({
    status,
    timedOut,
    ms,
    output: Buffer.from(output).toString('utf8'),
  }));

export function toAttemptView(stored: AttemptRow): AttemptView {
  const { record } = toAttempt(stored);
  return {
    attempt: stored.attempt,
    allocation: stored.allocation,
    state: stateOf(stored),
    openedAt: stored.opened_at.toISOString(),
    submittedAt: stored.submitted_at?.toISOString() ?? null,
    closedAt: stored.closed_at?.toISOString() ?? null,
    placedAs: stored.placed_as,
    waiting: stored.waiting,
    end: endText(stored),
    exitCode: record?.status ?? null,
    setupMs: record?.setupMs ?? null,
    commandMs: record?.commandMs ?? null,
    answer: record ? Buffer.from(record.answer).toString('utf8') : null,
    answerCut: record?.answerCut ?? false,
    graders: gradersOf(record),
    usage: usageOf(record),
    provenance: stored.provenance,
  };
}
