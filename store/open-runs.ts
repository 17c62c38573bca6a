import { type Queryable, rows } from './sql.js';

/** Runs that are ended in one transaction. */
const BATCH = 1_000;

/** Locks some of a scorecard's runs without outcome; one whose record is stored settles by that. */
export async function lockOpenRuns(db: Queryable, scorecardId: string): Promise<string[]> {
  const open = await rows<{ id: string }>(
    db,
    `SELECT id FROM runs r WHERE scorecard_id = $1 AND outcome IS NULL AND NOT EXISTS (
       SELECT FROM attempts a WHERE a.run_id = r.id AND a.attempt = r.open_attempt AND a.record IS NOT NULL)
     ORDER BY id LIMIT $2 FOR NO KEY UPDATE OF r`,
    [scorecardId, BATCH],
  );
  return open.map(({ id }) => id);
}
