import type { DataSource } from 'typeorm';
import { rows, transaction } from './sql.js';

/** What Temporal may have missed, found in the database. */
export class OutboxStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Scorecards that were started and have not finished, by id, after the one given. */
  async unfinishedScorecards(after: string, limit: number): Promise<{ id: string; isCancelRequested: boolean }[]> {
    return rows(
      this.dataSource,
      `SELECT id, cancel_requested_at IS NOT NULL AS "isCancelRequested" FROM scorecards
       WHERE started_at IS NOT NULL AND finished_at IS NULL AND id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    );
  }

  /** Single runs that were started, have no outcome and no open attempt, by id, after the one given. */
  async placelessRuns(after: string, limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM runs WHERE scorecard_id IS NULL AND started_at IS NOT NULL AND outcome IS NULL
         AND open_attempt IS NULL AND id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    );
    return found.map(({ id }) => id);
  }

  /** Runs with an open attempt that are to be cancelled. */
  async cancellingRuns(limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM runs WHERE open_attempt IS NOT NULL AND cancel_requested_at IS NOT NULL
       ORDER BY created_at LIMIT $1`,
      [limit],
    );
    return found.map(({ id }) => id);
  }

  /** Settles every run of a scorecard whose root is gone, but those with an open attempt: they are reclaimed first. */
  async settleOrphans(scorecardId: string, reason: string): Promise<void> {
    await transaction(this.dataSource, async (db) => {
      await rows(
        db,
        `SELECT 1 FROM runs WHERE scorecard_id = $1 AND outcome IS NULL AND open_attempt IS NULL
         ORDER BY id FOR NO KEY UPDATE`,
        [scorecardId],
      );
      await rows(
        db,
        `UPDATE runs SET outcome = 'errored', error_class = 'infra', error_code = 'PLATFORM_TERMINATED', reason = $2,
           settled_at = now()
         WHERE scorecard_id = $1 AND outcome IS NULL AND open_attempt IS NULL`,
        [scorecardId, reason],
      );
    });
  }
}
