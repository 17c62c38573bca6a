import type { DataSource } from 'typeorm';
import { lateReason } from '../policy/deadline.js';
import { affected, row, rows, transaction } from './sql.js';

/** Runs that are ended in one transaction. */
const BATCH = 1_000;

export class DeadlineStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Ends every run of the scorecard that has no outcome: what was to be cancelled is cancelled, the others are errored. A
   * run that leaves an attempt has it removed like one that settled. One whose record is stored settles by that.
   */
  async endLate(scorecardId: string): Promise<void> {
    const scorecard = await row<{ sec: number }>(
      this.dataSource,
      'SELECT round(extract(epoch FROM deadline_at - created_at))::int AS sec FROM scorecards WHERE id = $1',
      [scorecardId],
    );
    if (!scorecard) return;
    const reasons = (['running', 'waiting', 'queued'] as const).map((state) => lateReason(state, scorecard.sec));
    while ((await this.endBatch(scorecardId, reasons)) > 0);
  }

  private endBatch(scorecardId: string, reasons: string[]): Promise<number> {
    return transaction(this.dataSource, async (db) => {
      const late = await rows<{ id: string }>(
        db,
        `SELECT id FROM runs r WHERE scorecard_id = $1 AND outcome IS NULL AND NOT EXISTS (
           SELECT FROM attempts a WHERE a.run_id = r.id AND a.attempt = r.open_attempt AND a.record IS NOT NULL)
         ORDER BY id LIMIT $2 FOR NO KEY UPDATE OF r`,
        [scorecardId, BATCH],
      );
      return affected(
        db,
        `UPDATE runs SET settled_at = now(), settled_attempt = open_attempt, open_attempt = NULL,
           outcome = CASE WHEN cancel_requested_at IS NULL THEN 'errored' ELSE 'cancelled' END,
           error_class = CASE WHEN cancel_requested_at IS NULL THEN 'infra' END,
           error_code = CASE WHEN cancel_requested_at IS NULL THEN 'DEADLINE_EXCEEDED' END,
           reason = CASE WHEN cancel_requested_at IS NOT NULL THEN NULL WHEN open_attempt IS NOT NULL THEN $2
             WHEN asked_at IS NOT NULL THEN $3 ELSE $4 END
         WHERE id = ANY ($1) AND outcome IS NULL`,
        [late.map(({ id }) => id), ...reasons],
      );
    });
  }
}
