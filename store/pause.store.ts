import type { DataSource } from 'typeorm';
import type { RunErrorCode } from '../contracts/attempt.js';
import { JUDGED_ATTEMPTS } from '../policy/pausing.js';
import { auditWithin } from './audit-draft.js';
import type { ChangedLimits } from './pool-limits.js';
import { affected, type Queryable, rows, transaction } from './sql.js';

/** Which scorecards wait until somebody resumes them. The ledgers of their pools are told. */
export class PauseStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * How the last attempts of a scorecard ended since it was resumed, the latest first: the code of what failed, null for
   * what ran; those that somebody stopped say nothing. None where it is not to be judged: it is paused or finished.
   */
  async lastEnds(scorecardId: string): Promise<(RunErrorCode | null)[]> {
    const found = await rows<{ code: RunErrorCode | null }>(
      this.dataSource,
      `SELECT a.code FROM scorecards s CROSS JOIN LATERAL (
         SELECT CASE WHEN end_kind = 'failed' THEN error_code END AS code FROM attempts
         WHERE split_part(run_id, '.', 1) = s.id AND closed_at IS NOT NULL
           AND closed_at > coalesce(s.resumed_at, s.created_at) AND end_kind IN ('record', 'silent', 'failed')
         ORDER BY closed_at DESC LIMIT $2) a
       WHERE s.id = $1 AND s.paused_at IS NULL AND s.finished_at IS NULL`,
      [scorecardId, JUDGED_ATTEMPTS],
    );
    return found.map(({ code }) => code);
  }

  /** What its pools are to be told; nothing if it is paused already, is being cancelled, or is finished. */
  pause(scorecardId: string, reason: string): Promise<ChangedLimits[]> {
    return this.change(
      scorecardId,
      `UPDATE scorecards SET paused_at = now(), pause_reason = $2
       WHERE id = $1 AND paused_at IS NULL AND cancel_requested_at IS NULL AND finished_at IS NULL`,
      [scorecardId, reason],
    );
  }

  /** From now on its attempts are judged anew. Nothing is told if it is not paused. */
  resume(scorecardId: string): Promise<ChangedLimits[]> {
    return this.change(
      scorecardId,
      `UPDATE scorecards SET paused_at = NULL, pause_reason = NULL, resumed_at = now()
       WHERE id = $1 AND paused_at IS NOT NULL`,
      [scorecardId],
    );
  }

  /**
   * Whether a run that waited too long waits anew, since its scorecard was paused meanwhile: it is queued again, as if it
   * had never asked. False where its wait counts, and where it waits no more.
   */
  async restartWait(runId: string): Promise<boolean> {
    const restarted = await affected(
      this.dataSource,
      `UPDATE runs r SET asked_at = NULL, asked_by = NULL FROM scorecards s
       WHERE r.id = $1 AND s.id = r.scorecard_id AND r.outcome IS NULL AND r.open_attempt IS NULL
         AND r.cancel_requested_at IS NULL AND (s.paused_at IS NOT NULL OR s.resumed_at > r.asked_at)`,
      [runId],
    );
    return restarted > 0;
  }

  /** Its pools are locked first, in the order of locks. */
  private change(scorecardId: string, update: string, params: unknown[]): Promise<ChangedLimits[]> {
    return transaction(this.dataSource, async (db) => {
      const pools = await lockPools(db, scorecardId);
      const isChanged = (await affected(db, update, params)) > 0;
      if (!isChanged) return [];
      await auditWithin(db, { object: scorecardId });
      return raise(db, pools);
    });
  }
}

async function lockPools(db: Queryable, scorecardId: string): Promise<string[]> {
  const locked = await rows<{ id: string }>(
    db,
    `SELECT id FROM pools WHERE id IN (SELECT unnest(pool_ids) FROM scorecards WHERE id = $1)
     ORDER BY id FOR NO KEY UPDATE`,
    [scorecardId],
  );
  return locked.map(({ id }) => id);
}

const raise = (db: Queryable, pools: string[]) =>
  rows<ChangedLimits>(
    db,
    `UPDATE pools SET envelope_version = envelope_version + 1 WHERE id = ANY ($1)
     RETURNING id AS "poolId", envelope_version AS "envelopeVersion"`,
    [pools],
  );
