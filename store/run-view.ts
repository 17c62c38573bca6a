import type { ErrorClass } from '../contracts/attempt.js';
import type { Outcome, RunState, RunView, Score } from '../contracts/run.js';
import { type Queryable, rows } from './sql.js';

interface RunRow {
  id: string;
  scorecard_id: string | null;
  carried_from: string | null;
  ordinal: number | null;
  case_id: string;
  trial: number;
  harness: string;
  runtime: string;
  state: RunState;
  outcome: Outcome | null;
  error_class: ErrorClass | null;
  error_code: string | null;
  reason: string | null;
  decided_by: string | null;
  attempts: number;
  scores: Score[] | null;
  duration_ms: number | null;
  created_at: Date;
  settled_at: Date | null;
}

/** A run as it is shown, with its position in the scorecard. */
export interface PositionedRun {
  ordinal: number;
  run: RunView;
}

/** The state of run `r`. */
export const RUN_STATE = `CASE WHEN r.outcome IS NOT NULL THEN 'settled' WHEN r.open_attempt IS NOT NULL THEN 'running'
  WHEN r.asked_at IS NOT NULL THEN 'waiting' ELSE 'queued' END`;

/** Whether attempt `a`, in pool `p`, was not started by its cluster. */
export const IS_UNPLACED = `(a.submitted_at IS NULL OR a.waiting IS NOT NULL
  OR (p.kind <> 'local' AND a.placed_as IS NULL))`;

/** The run that has the attempts and logs of run `r`. */
export const ORIGIN = 'coalesce(r.carried_from, r.id)';

const RUN_ROWS = `
  SELECT r.id, r.scorecard_id, r.carried_from, r.ordinal, r.case_id, r.trial, h.id || '@' || h.version AS harness,
    p.runtime_id || '@' || r.runtime_version AS runtime,
    ${RUN_STATE} AS state,
    r.outcome, r.error_class, r.error_code, r.reason, r.decided_by, r.scores, r.created_at, r.settled_at,
    (SELECT count(*) FROM attempts a WHERE a.run_id = ${ORIGIN}) AS attempts,
    (SELECT (a.record ->> 'commandMs')::int FROM attempts a
     WHERE a.run_id = ${ORIGIN} AND a.attempt = r.settled_attempt) AS duration_ms
  FROM runs r JOIN pools p ON p.id = r.pool_id JOIN harnesses h ON h.pk = r.harness_pk`;

/** The runs that `where` selects. */
export async function runViews(db: Queryable, where: string, params: unknown[]): Promise<PositionedRun[]> {
  return (await rows<RunRow>(db, `${RUN_ROWS} ${where}`, params)).map(toPositioned);
}

const toPositioned = (stored: RunRow): PositionedRun => ({
  ordinal: stored.ordinal ?? 0,
  run: {
    id: stored.id,
    scorecard: stored.scorecard_id,
    carriedFrom: stored.carried_from,
    caseId: stored.case_id,
    trial: stored.trial,
    harness: stored.harness,
    runtime: stored.runtime,
    state: stored.state,
    outcome: stored.outcome,
    errorClass: stored.error_class,
    errorCode: stored.error_code,
    reason: stored.reason,
    decidedBy: stored.decided_by,
    attempts: stored.attempts,
    scores: stored.scores,
    durationMs: stored.duration_ms,
    createdAt: stored.created_at.toISOString(),
    settledAt: stored.settled_at?.toISOString() ?? null,
  },
});
