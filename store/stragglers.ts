import type { Straggler, Stragglers } from '../contracts/straggler.js';
import { IS_UNPLACED } from './run-view.js';
import { type Queryable, row, rows } from './sql.js';

/** The finished runs that the median is of: the last ones. */
const SAMPLE = 1_000;

const UNFINISHED = `
  SELECT r.ordinal AS run, r.id, r.case_id AS "caseId", r.trial, p.runtime_id || '@' || r.runtime_version AS runtime,
    CASE WHEN r.open_attempt IS NULL THEN CASE WHEN r.asked_by IS NULL THEN 'backing-off' ELSE 'waiting' END
         WHEN a.end_kind IS NOT NULL THEN 'finishing'
         WHEN ${IS_UNPLACED} THEN 'starting' ELSE 'running' END AS phase,
    coalesce(r.open_attempt, (SELECT max(attempt) FROM attempts WHERE run_id = r.id), 0) AS attempt,
    coalesce(a.opened_at, r.asked_at) AS since,
    (extract(epoch FROM now() - coalesce(a.opened_at, r.asked_at)) * 1000)::bigint AS "ageMs",
    (coalesce(r.own_case, c.content) ->> 'timeoutSec')::int AS "timeoutSec",
    CASE WHEN NOT ${IS_UNPLACED} THEN (extract(epoch FROM now() - a.submitted_at) * 1000)::bigint END AS "runningMs"
  FROM runs r
  JOIN pools p ON p.id = r.pool_id
  LEFT JOIN dataset_cases c ON c.dataset_pk = r.dataset_pk AND c.ordinal = r.case_ordinal
  LEFT JOIN attempts a ON a.run_id = r.id AND a.attempt = r.open_attempt
  WHERE r.scorecard_id = $1 AND r.outcome IS NULL AND (r.open_attempt IS NOT NULL OR r.asked_at IS NOT NULL)
  ORDER BY r.open_attempt IS NULL, since, r.ordinal LIMIT $2`;

const MEDIAN = `
  SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY (a.record ->> 'commandMs')::int))::int AS "medianMs",
    (SELECT count(*) FROM runs
     WHERE scorecard_id = $1 AND outcome IS NULL AND open_attempt IS NULL AND asked_at IS NULL) AS queued
  FROM (
    SELECT coalesce(carried_from, id) AS id, settled_attempt FROM runs
    WHERE scorecard_id = $1 AND settled_xid IS NOT NULL ORDER BY settled_xid DESC, ordinal DESC LIMIT $2
  ) AS r
  JOIN attempts a ON a.run_id = r.id AND a.attempt = r.settled_attempt`;

type StragglerRow = Omit<Straggler, 'since' | 'leftMs' | 'timesMedian'> & { since: Date; runningMs: number | null };

/** Runs of a scorecard that run or wait, compared with those that are finished. */
export async function stragglersOf(db: Queryable, scorecardId: string, limit: number): Promise<Stragglers> {
  const { medianMs = null, queued = 0 } =
    (await row<Omit<Stragglers, 'items'>>(db, MEDIAN, [scorecardId, SAMPLE])) ?? {};
  const found = await rows<StragglerRow>(db, UNFINISHED, [scorecardId, limit]);
  return { medianMs, queued, items: found.map((one) => toStraggler(one, medianMs)) };
}

function toStraggler({ since, runningMs, ...run }: StragglerRow, medianMs: number | null): Straggler {
  const times = runningMs !== null && medianMs !== null && medianMs > 0 ? runningMs / medianMs : null;
  return {
    ...run,
    since: since.toISOString(),
    leftMs: runningMs === null ? null : Math.max(0, run.timeoutSec * 1_000 - runningMs),
    timesMedian: times === null ? null : Math.round(times * 10) / 10,
  };
}
