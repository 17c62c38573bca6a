import type { DataSource } from 'typeorm';
import { row, rows } from './sql.js';

/** A scorecard that has not finished, and how far it is. */
export interface UnfinishedScorecard {
  id: string;
  dataset: string;
  harness: string;
  total: number;
  settled: number;
}

/** What a database holds, across all workspaces. */
export interface Census {
  scorecards: number;
  unfinishedScorecards: number;
  /** Of those that belong to no scorecard. */
  unfinishedRuns: number;
  /** The newest of the unfinished scorecards. */
  newest: UnfinishedScorecard[];
}

const SHOWN = 10;

export async function takeCensus(db: DataSource): Promise<Census> {
  const counts = await row<Omit<Census, 'newest'>>(
    db,
    `SELECT count(*)::int AS scorecards, count(*) FILTER (WHERE finished_at IS NULL)::int AS "unfinishedScorecards",
       (SELECT count(*)::int FROM runs WHERE scorecard_id IS NULL AND outcome IS NULL) AS "unfinishedRuns"
     FROM scorecards WHERE deleted_at IS NULL`,
  );
  const newest = await rows<UnfinishedScorecard>(
    db,
    `SELECT s.id, d.id AS dataset, h.id AS harness, s.total,
       (SELECT count(*)::int FROM runs WHERE scorecard_id = s.id AND outcome IS NOT NULL) AS settled
     FROM scorecards s JOIN datasets d ON d.pk = s.dataset_pk JOIN harnesses h ON h.pk = s.harness_pk
     WHERE s.finished_at IS NULL ORDER BY s.id DESC LIMIT ${SHOWN}`,
  );
  return { scorecards: 0, unfinishedScorecards: 0, unfinishedRuns: 0, ...counts, newest };
}
