import type { DataSource } from 'typeorm';
import type { AttemptEnd, FenceRefusal } from '../contracts/attempt.js';
import type { AttemptView } from '../contracts/run.js';
import type { JobRecord } from '../policy/record.js';
import type { Verdict } from '../policy/results.js';
import { ATTEMPT_COLUMNS, type Attempt, type AttemptRow, toAttempt, toAttemptView } from './attempt-row.js';
import { type AttemptOpening, passFence, standingOf } from './fence.js';
import { encodeRecord } from './record-json.js';
import { affected, row, rows } from './sql.js';
import { storableJson, storableText } from './storable.js';
import { VERDICT_COLUMNS, verdictParams } from './verdict-columns.js';

export type Opening =
  | { kind: 'opened'; attempt: Attempt }
  | { kind: 'adopted'; attempt: Attempt; isCancelRequested: boolean }
  | { kind: 'refused'; refusal: FenceRefusal };

export class AttemptStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Opens the attempt under its grant, or adopts the one that is open under this number. An adopted attempt may hold
   * another lease than the grant's: then the grant is one too many.
   */
  async open(opening: AttemptOpening): Promise<Opening> {
    const opened = await passFence(this.dataSource, opening);
    if (!('reason' in opened)) return { kind: 'opened', attempt: toAttempt(opened) };
    const standing = await standingOf(this.dataSource, opening, opened);
    if ('reason' in standing) return { kind: 'refused', refusal: standing };
    return { kind: 'adopted', attempt: toAttempt(standing.attempt), isCancelRequested: standing.isCancelRequested };
  }

  /**
   * The cluster confirmed the allocation: from now on its absence means that it was lost. False: the attempt was closed
   * meanwhile, so nothing of it may stay.
   */
  async confirmSubmitted(runId: string, attempt: number, provenance: Record<string, unknown> = {}): Promise<boolean> {
    const sql = `UPDATE attempts SET submitted_at = coalesce(submitted_at, now()), provenance = provenance || $3::jsonb
      WHERE run_id = $1 AND attempt = $2 AND closed_at IS NULL`;
    return (await affected(this.dataSource, sql, [runId, attempt, storableJson(provenance)])) > 0;
  }

  /** Stores how it ended. The first end stands, except that a record replaces an end without one. */
  async recordEnd(runId: string, attempt: number, end: AttemptEnd, record?: JobRecord): Promise<void> {
    const failure = end.kind === 'failed' ? end.failure : undefined;
    const message = end.kind === 'silent' ? end.detail : failure?.message;
    const encoded = record && encodeRecord(record);
    await rows(
      this.dataSource,
      `UPDATE attempts SET end_kind = $3, error_code = $4, error_message = $5, record = $6::jsonb, answer = $7
       WHERE run_id = $1 AND attempt = $2 AND record IS NULL AND (end_kind IS NULL OR $6::jsonb IS NOT NULL)`,
      [
        runId,
        attempt,
        end.kind,
        failure?.code ?? null,
        message === undefined ? null : storableText(message),
        encoded?.json ?? null,
        encoded?.answer ?? null,
      ],
    );
  }

  async read(runId: string, attempt: number): Promise<Attempt | undefined> {
    const sql = `SELECT ${ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND attempt = $2`;
    const found = await row<AttemptRow>(this.dataSource, sql, [runId, attempt]);
    return found && toAttempt(found);
  }

  /** Writes the verdict if this attempt is still the run's open one; false: it changed nothing. */
  async settle(runId: string, attempt: number, verdict: Verdict): Promise<boolean> {
    const sql = `UPDATE runs SET ${VERDICT_COLUMNS}, open_attempt = NULL, settled_attempt = $7
      WHERE id = $1 AND open_attempt = $7 AND outcome IS NULL`;
    return (await affected(this.dataSource, sql, [...verdictParams(runId, verdict), attempt])) > 0;
  }

  /**
   * After the allocation is provably gone: closes the attempt so that the run can have another, which waits from now on.
   * False: the run has none to come. It is settled, by this very statement if its cancel was asked for, or another
   * attempt is its open one.
   */
  async closeForRetry(runId: string, attempt: number): Promise<boolean> {
    const retried = await row<{ is_cancelled: boolean }>(
      this.dataSource,
      `WITH cleared AS (
         UPDATE runs SET open_attempt = NULL, asked_at = now(), asked_by = NULL,
           outcome = CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled' END,
           settled_attempt = CASE WHEN cancel_requested_at IS NOT NULL THEN $2::int END,
           settled_at = CASE WHEN cancel_requested_at IS NOT NULL THEN now() END
         WHERE id = $1 AND open_attempt = $2 AND outcome IS NULL RETURNING id, outcome
       ), closed AS (
         UPDATE attempts a SET closed_at = coalesce(closed_at, now()) FROM cleared c
         WHERE a.run_id = c.id AND a.attempt = $2
       )
       SELECT outcome IS NOT NULL AS is_cancelled FROM cleared`,
      [runId, attempt],
    );
    return retried !== undefined && !retried.is_cancelled;
  }

  /** The allocation is provably gone, so the slot can be given back. */
  async close(runId: string, attempt: number): Promise<void> {
    await rows(
      this.dataSource,
      'UPDATE attempts SET closed_at = coalesce(closed_at, now()) WHERE run_id = $1 AND attempt = $2',
      [runId, attempt],
    );
  }

  /** The cluster did not confirm removal in time; the attempt keeps its slot. */
  async markCleanupPending(runId: string, attempt: number): Promise<void> {
    await rows(
      this.dataSource,
      `UPDATE attempts SET cleanup_pending_at = coalesce(cleanup_pending_at, now())
       WHERE run_id = $1 AND attempt = $2 AND closed_at IS NULL`,
      [runId, attempt],
    );
  }

  /** Attempts of a run in order. */
  async list(runId: string): Promise<AttemptView[]> {
    const sql = `SELECT ${ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 ORDER BY attempt`;
    return (await rows<AttemptRow>(this.dataSource, sql, [runId])).map(toAttemptView);
  }
}
