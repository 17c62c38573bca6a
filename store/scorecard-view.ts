import type { ScorecardStatus, ScorecardView } from '../contracts/scorecard.js';
import type { Counts, Rates } from '../contracts/scorecard-numbers.js';
import { type RateCounts, ratesOf } from '../policy/rates.js';
import { type Queryable, rows } from './sql.js';

/** Runs of a scorecard by state, taken in one statement, so that they add up at any instant. */
export interface Tally {
  counts: Counts;
  rates: Rates;
  /** What the statement saw. */
  snapshot: string;
}

/** How a scorecard stands. */
export interface Progress extends Tally {
  status: ScorecardStatus;
  pauseReason: string | null;
  stoppedEarly: ScorecardView['stoppedEarly'];
}

interface ScorecardRow {
  id: string;
  dataset: string;
  harness: string;
  runtime: string | null;
  class: ScorecardView['class'];
  trials: number;
  metadata: ScorecardView['metadata'];
  created_at: Date;
  deadline_at: Date | null;
  phase: Exclude<ScorecardStatus, 'queued' | 'running'> | 'open';
  paused_at: Date | null;
  pause_reason: string | null;
  finished_at: Date | null;
  retry_of: string | null;
  regrade_of: string | null;
  rerolls: ScorecardView['rerolls'];
  stopped_early: ScorecardView['stoppedEarly'];
}

/** `measured`: without the runs that an operator decided. */
interface TallyRow {
  id: string;
  submitted: number;
  snapshot: string;
  tally: Omit<Counts, 'submitted'> & { measured: RateCounts };
}

/** Counts the runs of scorecard `s`. Those that are queued are what the others leave, and are not read. */
export const RUN_TALLY = `
  SELECT
    s.total - count(*) AS queued,
    count(*) FILTER (WHERE outcome IS NULL AND open_attempt IS NULL) AS waiting,
    count(*) FILTER (WHERE outcome IS NULL AND open_attempt IS NOT NULL) AS running,
    count(*) FILTER (WHERE outcome IS NOT NULL) AS settled,
    count(*) FILTER (WHERE outcome = 'passed') AS passed,
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE outcome = 'errored') AS errored,
    count(*) FILTER (WHERE outcome = 'cancelled') AS cancelled,
    count(*) FILTER (WHERE outcome = 'errored' AND error_class = 'infra') AS "infraErrors",
    count(*) FILTER (WHERE decided_by IS NOT NULL) AS decided,
    json_build_object(
      'settled', count(*) FILTER (WHERE decided_by IS NULL AND outcome IS NOT NULL),
      'cancelled', count(*) FILTER (WHERE decided_by IS NULL AND outcome = 'cancelled'),
      'passedFirst', count(*) FILTER (WHERE decided_by IS NULL AND outcome = 'passed' AND settled_attempt = 1
        AND NOT is_rerolled),
      'passed', count(*) FILTER (WHERE decided_by IS NULL AND outcome = 'passed'),
      'infraErrors',
      count(*) FILTER (WHERE decided_by IS NULL AND outcome = 'errored' AND error_class = 'infra')) AS measured
  FROM runs
  WHERE scorecard_id = s.id AND (outcome IS NOT NULL OR open_attempt IS NOT NULL OR asked_at IS NOT NULL)`;

const TALLY = `
  SELECT s.id, s.total AS submitted, pg_current_snapshot()::text AS snapshot,
    CASE WHEN s.tally IS NULL THEN (SELECT to_jsonb(r) FROM (${RUN_TALLY}) r) ELSE s.tally END AS tally
  FROM scorecards s WHERE s.id = ANY ($1)`;

export async function talliesOf(db: Queryable, ids: string[]): Promise<Map<string, Tally>> {
  const found = await rows<TallyRow>(db, TALLY, [ids]);
  return new Map(
    found.map(({ id, submitted, snapshot, tally: { measured, ...states } }) => [
      id,
      { counts: { submitted, ...states }, rates: ratesOf(measured), snapshot },
    ]),
  );
}

/** FROM and columns of what a view shows beside its tally. */
export const SCORECARD_ROWS = `
  SELECT s.id, d.id || '@' || d.version AS dataset, h.id || '@' || h.version AS harness, s.runtime, s.class, s.trials,
         s.metadata, s.created_at, s.deadline_at, s.phase, s.paused_at, s.pause_reason,
         s.finished_at, s.retry_of, s.regrade_of, s.rerolls, s.stopped_early
  FROM scorecards s JOIN datasets d ON d.pk = s.dataset_pk JOIN harnesses h ON h.pk = s.harness_pk`;

/** An open one runs once a run of it has begun. */
const statusOf = ({ phase }: ScorecardRow, { running, settled }: Counts): ScorecardStatus => {
  if (phase !== 'open') return phase;
  return running + settled > 0 ? 'running' : 'queued';
};

/** The scorecards that `where` selects, each with its tally. */
export async function viewsOf(db: Queryable, where: string, params: unknown[]): Promise<ScorecardView[]> {
  const found = await rows<ScorecardRow>(db, `${SCORECARD_ROWS} ${where}`, params);
  const tallies = await talliesOf(
    db,
    found.map(({ id }) => id),
  );
  return found.flatMap((scorecard) => {
    const tally = tallies.get(scorecard.id);
    return tally ? [toView(scorecard, tally)] : [];
  });
}

/** The status is never ahead of the numbers: it is read first. */
export async function progressOf(db: Queryable, id: string): Promise<Progress | undefined> {
  const [scorecard] = await rows<ScorecardRow>(db, `${SCORECARD_ROWS} WHERE s.id = $1`, [id]);
  const tally = (await talliesOf(db, [id])).get(id);
  return (
    scorecard &&
    tally && {
      ...tally,
      status: statusOf(scorecard, tally.counts),
      ...{ pauseReason: scorecard.pause_reason, stoppedEarly: scorecard.stopped_early },
    }
  );
}

const toView = (scorecard: ScorecardRow, { counts, rates }: Tally): ScorecardView => ({
  id: scorecard.id,
  status: statusOf(scorecard, counts),
  dataset: scorecard.dataset,
  harness: scorecard.harness,
  runtime: scorecard.runtime,
  class: scorecard.class,
  trials: scorecard.trials,
  metadata: scorecard.metadata,
  counts,
  rates,
  pausedAt: scorecard.paused_at?.toISOString() ?? null,
  pauseReason: scorecard.pause_reason,
  createdAt: scorecard.created_at.toISOString(),
  deadlineAt: scorecard.deadline_at?.toISOString() ?? null,
  finishedAt: scorecard.finished_at?.toISOString() ?? null,
  retryOf: scorecard.retry_of,
  regradeOf: scorecard.regrade_of,
  rerolls: scorecard.rerolls,
  stoppedEarly: scorecard.stopped_early,
});
