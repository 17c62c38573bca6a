import type { DataSource } from 'typeorm';
import { rows } from './sql.js';

/** Cancels that Temporal may have missed, found in the database. */
export class OutboxStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Scorecards that were started, are to be cancelled and have not finished. */
  async cancellingScorecards(limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM scorecards WHERE started_at IS NOT NULL AND finished_at IS NULL AND cancel_requested_at IS NOT NULL
       ORDER BY cancel_requested_at LIMIT $1`,
      [limit],
    );
    return found.map(({ id }) => id);
  }

  /** Runs with an attempt that is to be stopped: their cancel was asked for, or somebody settled them. */
  async cancellingRuns(limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT r.id FROM attempts a JOIN runs r ON r.id = a.run_id
       WHERE a.closed_at IS NULL AND (r.decided_by IS NOT NULL OR (r.open_attempt IS NOT NULL AND r.cancel_requested_at IS NOT NULL))
       ORDER BY a.opened_at LIMIT $1`,
      [limit],
    );
    return found.map(({ id }) => id);
  }
}
