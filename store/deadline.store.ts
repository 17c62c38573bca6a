import type { DataSource } from 'typeorm';
import { lateReason } from '../policy/deadline.js';
import { lockOpenRuns } from './open-runs.js';
import { affected, row, transaction } from './sql.js';

export class DeadlineStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Ends every run of the scorecard that has no outcome: what was to be cancelled is cancelled, the others are errored. A
   * run that leaves an attempt has it removed like one that settled.
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
      const late = await lockOpenRuns(db, scorecardId);
      return affected(
        db,
        `UPDATE runs SET settled_at = now(), settled_attempt = open_attempt, open_attempt = NULL,
           outcome = CASE WHEN cancel_requested_at IS NULL THEN 'errored' ELSE 'cancelled' END,
           error_class = CASE WHEN cancel_requested_at IS NULL THEN 'infra' END,
           error_code = CASE WHEN cancel_requested_at IS NULL THEN 'DEADLINE_EXCEEDED' END,
           reason = CASE WHEN cancel_requested_at IS NOT NULL THEN NULL WHEN open_attempt IS NOT NULL THEN $2
             WHEN asked_at IS NOT NULL THEN $3 ELSE $4 END
         WHERE id = ANY ($1) AND outcome IS NULL`,
        [late, ...reasons],
      );
    });
  }
}
