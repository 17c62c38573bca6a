import type { DataSource } from 'typeorm';
import type { AttemptEnd, FenceRefusal } from '../contracts/attempt.js';
import type { LogMark } from '../contracts/log-events.js';
import type { AttemptView } from '../contracts/run.js';
import type { JobRecord } from '../policy/record.js';
import type { Verdict } from '../policy/results.js';
import {
  type AttemptConfirmed,
  type AttemptEnded,
  type AttemptKey,
  type AttemptSettled,
  closeGroup,
  confirmGroup,
  keyOf,
  recordEndGroup,
  settleGroup,
} from './attempt-groups.js';
import { ATTEMPT_COLUMNS, type Attempt, type AttemptRow, toAttempt, toAttemptView } from './attempt-row.js';
import { type AttemptOpening, passFence, standingOf } from './fence.js';
import { GroupWriter } from './group-writer.js';
import { row, rows } from './sql.js';
import { storableJson, storableText } from './storable.js';

export type Opening =
  | { kind: 'opened'; attempt: Attempt }
  | { kind: 'adopted'; attempt: Attempt; isCancelRequested: boolean }
  | { kind: 'refused'; refusal: FenceRefusal };

const sizeOf = ({ record }: AttemptEnded): number => record?.answer.length ?? 0;

/** What every attempt writes once is written in groups: many end at the same time. */
export class AttemptStore {
  private readonly confirms: GroupWriter<AttemptConfirmed, boolean>;
  private readonly ends: GroupWriter<AttemptEnded, boolean>;
  private readonly settles: GroupWriter<AttemptSettled, boolean>;
  private readonly closes: GroupWriter<AttemptKey, boolean>;

  constructor(private readonly dataSource: DataSource) {
    this.confirms = new GroupWriter<AttemptConfirmed, boolean>({
      keyOf,
      write: (group) => confirmGroup(dataSource, group),
    });
    this.ends = new GroupWriter<AttemptEnded, boolean>({
      keyOf,
      bytesOf: sizeOf,
      write: (group) => recordEndGroup(dataSource, group),
    });
    this.settles = new GroupWriter({
      // Two verdicts of one run are told which of them stands.
      keyOf: ({ runId }) => runId,
      write: (group) => settleGroup(dataSource, group),
    });
    this.closes = new GroupWriter({ keyOf, write: (group) => closeGroup(dataSource, group) });
  }

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
  confirmSubmitted(runId: string, attempt: number, provenance: Record<string, unknown> = {}): Promise<boolean> {
    return this.confirms.submit({ runId, attempt, provenance });
  }

  /** Why its cluster does not start it; without a reason, it does. */
  async noteWaiting(runId: string, attempt: number, detail: string | undefined): Promise<void> {
    await rows(
      this.dataSource,
      'UPDATE attempts SET waiting = $3 WHERE run_id = $1 AND attempt = $2 AND closed_at IS NULL',
      [runId, attempt, detail === undefined ? null : storableText(detail)],
    );
  }

  /** What runs it, by the cluster's own id, with what is known of where. The first that is noted stays. */
  async notePlaced(
    runId: string,
    attempt: number,
    { as, provenance }: { as: string; provenance: Record<string, unknown> },
  ): Promise<void> {
    await rows(
      this.dataSource,
      `UPDATE attempts SET placed_as = $3, waiting = NULL, provenance = provenance || $4::jsonb
       WHERE run_id = $1 AND attempt = $2 AND closed_at IS NULL AND (placed_as IS NULL OR placed_as = $3)`,
      [runId, attempt, as, storableJson(provenance)],
    );
  }

  /** Where its log can be read on: further than what was noted before, and never back. */
  async noteMark(runId: string, attempt: number, mark: LogMark): Promise<void> {
    await rows(
      this.dataSource,
      `UPDATE attempts SET log_mark = $3::jsonb
       WHERE run_id = $1 AND attempt = $2 AND closed_at IS NULL AND (log_mark IS NULL OR (log_mark->>'at')::bigint < $4)`,
      [runId, attempt, JSON.stringify(mark), mark.at],
    );
  }

  /** Stores how it ended. The first end stands, except that a record replaces an end without one. */
  async recordEnd(runId: string, attempt: number, end: AttemptEnd, record?: JobRecord): Promise<void> {
    await this.ends.submit({ runId, attempt, end, record });
  }

  async read(runId: string, attempt: number): Promise<Attempt | undefined> {
    const sql = `SELECT ${ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND attempt = $2`;
    const found = await row<AttemptRow>(this.dataSource, sql, [runId, attempt]);
    return found && toAttempt(found);
  }

  /** Whether it is the open attempt of its run, with no end stored. */
  async isLive(runId: string, attempt: number): Promise<boolean> {
    const sql = `SELECT FROM attempts a JOIN runs r ON r.id = a.run_id AND r.open_attempt = a.attempt
      WHERE a.run_id = $1 AND a.attempt = $2 AND a.end_kind IS NULL AND a.closed_at IS NULL`;
    return (await row(this.dataSource, sql, [runId, attempt])) !== undefined;
  }

  /** Writes the verdict if this attempt is still the run's open one; false: it changed nothing. */
  settle(runId: string, attempt: number, verdict: Verdict): Promise<boolean> {
    return this.settles.submit({ runId, attempt, verdict });
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
    await this.closes.submit({ runId, attempt });
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
