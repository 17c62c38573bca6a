import type { DataSource } from 'typeorm';
import type { RunState } from '../contracts/run.js';
import type { Ticketless } from '../policy/queued.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { IS_UNPLACED, RUN_STATE } from './run-view.js';
import { row, rows } from './sql.js';

/** What the database knows of why a run waits. */
export interface WaitingRun extends Ticketless {
  id: string;
  poolId: string;
  state: RunState;
  /** Its answer is stored and is graded anew: it asks for nothing. */
  isCarried: boolean;
  /** It waits out the pause before another attempt, and asks for nothing. */
  isBackingOff: boolean;
  /** It holds its slot, and its cluster has not started it. */
  isUnplaced: boolean;
  /** Why, in the words of the cluster. */
  placement: string | null;
  /** Of what is paused: when it is resumed by itself, and what was said of it. */
  pause: { until: Date | null; note: string | null };
}

interface RunRow extends DemandRow {
  id: string;
  pool_id: string;
  runtime_id: string;
  workspace_id: string;
  scorecard_id: string | null;
  state: RunState;
  is_carried: boolean;
  is_backing_off: boolean;
  is_unplaced: boolean;
  placement: string | null;
  is_paused: boolean;
  pause_reason: string | null;
  is_dialled: boolean;
  dial_until: Date | null;
  dial_reason: string | null;
  concurrency: number | null;
  in_flight: number;
  max_running: number | null;
  running: number;
  queued_before: number;
}

/** A run that is wanted before the others of its workspace. */
export interface Promotion {
  poolId: string;
  scorecardId: string | null;
  promotedAt: Date;
  /** It has not asked for a slot. */
  isQueued: boolean;
}

const PROMOTION = `pool_id AS "poolId", scorecard_id AS "scorecardId", promoted_at AS "promotedAt",
  asked_at IS NULL AS "isQueued"`;

/** Runs of a workspace that wait and are promoted: where all are first, none is. */
export const MOST_PROMOTED = 1_000;

const IS_QUEUED = 'asked_at IS NULL AND open_attempt IS NULL AND outcome IS NULL';

/**
 * Per scorecard and per workspace things are counted once, and only where something depends on them. Of the queued runs
 * of a scorecard only those before its first one here are counted: the others are here, as lists are by ordinal.
 */
const FACTS = `
  WITH asked AS MATERIALIZED (SELECT * FROM runs WHERE id = ANY ($1)),
  first AS MATERIALIZED (
    SELECT f.scorecard_id, (
      SELECT count(*) FROM runs b WHERE b.scorecard_id = f.scorecard_id AND b.ordinal < f.ordinal AND ${IS_QUEUED}
    ) AS before
    FROM (SELECT scorecard_id, min(ordinal) AS ordinal FROM asked WHERE ${IS_QUEUED} AND scorecard_id IS NOT NULL
          GROUP BY scorecard_id) f
  ),
  flights AS MATERIALIZED (
    SELECT s.id, (
      SELECT count(*) FROM runs b WHERE b.scorecard_id = s.id AND b.asked_at IS NOT NULL AND b.outcome IS NULL
    ) AS in_flight
    FROM scorecards s WHERE s.concurrency IS NOT NULL AND s.id IN (SELECT scorecard_id FROM asked)
  ),
  quotas AS MATERIALIZED (
    SELECT w.id, w.max_running, (
      SELECT count(*) FROM runs b WHERE b.workspace_id = w.id AND b.open_attempt IS NOT NULL
    ) AS running
    FROM workspaces w WHERE w.max_running IS NOT NULL AND w.id IN (SELECT workspace_id FROM asked)
  )
  SELECT r.id, r.pool_id, p.runtime_id, r.workspace_id, r.scorecard_id, r.memory_mb, r.cpu_millicores, ${RUN_STATE} AS state,
    r.carried_from IS NOT NULL AS is_carried, r.asked_at IS NOT NULL AND r.asked_by IS NULL AS is_backing_off,
    a.run_id IS NOT NULL AND a.end_kind IS NULL AND ${IS_UNPLACED} AS is_unplaced,
    a.waiting AS placement,
    s.pause_reason, p.dial_until, p.dial_reason,
    p.dial_mode <> 'open' AND coalesce(p.dial_until > now(), true) AS is_dialled,
    s.paused_at IS NOT NULL AS is_paused, s.concurrency, coalesce(f.in_flight, 0) AS in_flight,
    q.max_running, coalesce(q.running, 0) AS running,
    CASE WHEN first.scorecard_id IS NULL THEN 0 ELSE first.before - 1 + count(*) FILTER (
      WHERE r.asked_at IS NULL AND r.open_attempt IS NULL AND r.outcome IS NULL
    ) OVER (PARTITION BY r.scorecard_id ORDER BY r.ordinal) END AS queued_before
  FROM asked r
  JOIN pools p ON p.id = r.pool_id
  LEFT JOIN scorecards s ON s.id = r.scorecard_id
  LEFT JOIN attempts a ON a.run_id = r.id AND a.attempt = r.open_attempt
  LEFT JOIN first ON first.scorecard_id = r.scorecard_id
  LEFT JOIN flights f ON f.id = r.scorecard_id
  LEFT JOIN quotas q ON q.id = r.workspace_id
  WHERE s.deleted_at IS NULL`;

/** Who waits, and what the database knows of why. */
export class WaitingStore {
  constructor(private readonly dataSource: DataSource) {}

  /** In no order. Of a scorecard in a list, all that are queued between two of them must be among them. */
  async facts(ids: readonly string[]): Promise<WaitingRun[]> {
    return (await rows<RunRow>(this.dataSource, FACTS, [ids])).map(toWaiting);
  }

  /** Pools that runs of the workspace wait in, or any runs; in order. */
  async pools(workspaceId: string | undefined): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM pools p
       WHERE EXISTS (
         SELECT FROM runs WHERE pool_id = p.id AND asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL
           AND ($1::text IS NULL OR workspace_id = $1))
       ORDER BY id COLLATE "C"`,
      [workspaceId ?? null],
    );
    return found.map(({ id }) => id);
  }

  /** Notes that a run is wanted before the others of its workspace, unless it was before, is past waiting, or they are too many. */
  async promote(id: string): Promise<Promotion | undefined> {
    return row<Promotion>(
      this.dataSource,
      `UPDATE runs r SET promoted_at = now()
       WHERE id = $1 AND promoted_at IS NULL AND outcome IS NULL AND open_attempt IS NULL AND carried_from IS NULL AND $2 > (
         SELECT count(*) FROM runs p
         WHERE p.workspace_id = r.workspace_id AND p.promoted_at IS NOT NULL AND p.outcome IS NULL
           AND p.open_attempt IS NULL)
       RETURNING ${PROMOTION}`,
      [id, MOST_PROMOTED],
    );
  }

  /** Of a run that is promoted. */
  promotion(id: string): Promise<Promotion | undefined> {
    const sql = `SELECT ${PROMOTION} FROM runs WHERE id = $1 AND promoted_at IS NOT NULL`;
    return row<Promotion>(this.dataSource, sql, [id]);
  }

  /** What a queue shows of its runs. */
  named(ids: readonly string[]): Promise<{ id: string; caseId: string; scorecard: string | null; runtime: string }[]> {
    return rows(
      this.dataSource,
      `SELECT r.id, r.case_id AS "caseId", r.scorecard_id AS scorecard, p.runtime_id || '@' || r.runtime_version AS runtime
       FROM runs r JOIN pools p ON p.id = r.pool_id WHERE r.id = ANY ($1)`,
      [ids],
    );
  }
}

function toWaiting(stored: RunRow): WaitingRun {
  const { scorecard_id: scorecardId, concurrency, max_running: limit } = stored;
  return {
    id: stored.id,
    poolId: stored.pool_id,
    runtimeId: stored.runtime_id,
    workspace: stored.workspace_id,
    state: stored.state,
    isCarried: stored.is_carried,
    isBackingOff: stored.state === 'waiting' && stored.is_backing_off,
    isUnplaced: stored.is_unplaced,
    placement: stored.placement,
    pause: stored.is_dialled
      ? { until: stored.dial_until, note: stored.dial_reason }
      : { until: null, note: stored.pause_reason },
    demand: demandOfRow(stored),
    ...(limit !== null && { quota: { limit, used: stored.running } }),
    ...(scorecardId !== null && {
      scorecard: {
        id: scorecardId,
        isPaused: stored.is_paused,
        ...(concurrency !== null && { concurrency }),
        inFlight: stored.in_flight,
      },
    }),
    queuedBefore: Math.max(0, stored.queued_before),
  };
}
