import type { DataSource } from 'typeorm';
import { boundedRead } from './bounded.js';
import { affected, rows } from './sql.js';

/** When a waiting run is said to start, seconds from now. */
export interface Prediction {
  runId: string;
  p50Sec: number;
  p90Sec: number;
}

/** Of the predictions whose time has come, how many came true: their run had started by then. */
export interface Coverage {
  quantile: '0.5' | '0.9';
  predictions: number;
  cameTrue: number;
}

const READ_MS = 2_000;
/** Rows that are deleted at once. */
const BATCH = 10_000;

/** What was said of waits, and what came of it. */
export class PredictionStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Waiting runs that nothing was said of, drawn by lot, at most so many. */
  unpredicted(limit: number): Promise<{ runId: string; poolId: string }[]> {
    return boundedRead(this.dataSource, READ_MS, (db) =>
      rows(
        db,
        `SELECT id AS "runId", pool_id AS "poolId" FROM (
           SELECT r.id, r.pool_id FROM runs r
           WHERE r.asked_at IS NOT NULL AND r.asked_by IS NOT NULL AND r.open_attempt IS NULL AND r.outcome IS NULL
             AND NOT EXISTS (SELECT FROM wait_predictions p WHERE p.run_id = r.id)
           LIMIT 20000
         ) waiting ORDER BY random() LIMIT $1`,
        [limit],
      ),
    );
  }

  /** The first that is said of a run stands. Of one that has started meanwhile nothing is noted. */
  async record(predictions: readonly Prediction[]): Promise<void> {
    await rows(
      this.dataSource,
      `INSERT INTO wait_predictions (run_id, p50_at, p90_at)
       SELECT said.run_id, now() + make_interval(secs => said.p50), now() + make_interval(secs => said.p90)
       FROM unnest($1::text[], $2::float8[], $3::float8[]) AS said (run_id, p50, p90)
       JOIN runs r ON r.id = said.run_id AND r.open_attempt IS NULL AND r.outcome IS NULL
       ON CONFLICT DO NOTHING`,
      [
        predictions.map(({ runId }) => runId),
        predictions.map(({ p50Sec }) => p50Sec),
        predictions.map(({ p90Sec }) => p90Sec),
      ],
    );
  }

  /**
   * Of the last 24 hours. A prediction counts once its time has come, whenever its run started, so that long waits count
   * as short ones do; that of a run which ended without a start never does.
   */
  coverage(): Promise<Coverage[]> {
    return boundedRead(this.dataSource, READ_MS, (db) =>
      rows(
        db,
        `SELECT said.quantile, count(*) AS predictions, count(*) FILTER (WHERE a.started_at <= said.at) AS "cameTrue"
         FROM wait_predictions p
         JOIN runs r ON r.id = p.run_id
         CROSS JOIN LATERAL (
           SELECT min(opened_at) AS started_at FROM attempts WHERE run_id = p.run_id AND opened_at >= p.predicted_at
         ) a
         CROSS JOIN LATERAL (VALUES ('0.5', p.p50_at), ('0.9', p.p90_at)) AS said (quantile, at)
         WHERE p.predicted_at > now() - interval '24 hours' AND said.at <= now()
           AND (a.started_at IS NOT NULL OR r.outcome IS NULL)
         GROUP BY 1 ORDER BY 1`,
      ),
    );
  }

  /** Deletes what was said more than 7 days ago. */
  purge(): Promise<number> {
    return affected(
      this.dataSource,
      `DELETE FROM wait_predictions WHERE run_id IN (
         SELECT run_id FROM wait_predictions WHERE predicted_at < now() - interval '7 days'
         ORDER BY predicted_at LIMIT $1)`,
      [BATCH],
    );
  }
}
