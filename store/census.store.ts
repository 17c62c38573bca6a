import type { DataSource } from 'typeorm';
import type { ErrorClass } from '../contracts/attempt.js';
import type { Outcome, RunState } from '../contracts/run.js';
import { boundedRead } from './bounded.js';
import { rows } from './sql.js';

/** How many runs of the whole deployment are alike. */
export interface RunGroup {
  state: RunState;
  outcome: Outcome | null;
  errorClass: ErrorClass | null;
  count: number;
}

/** One runtime: what its attempts hold, its limits, who waits. Absent limits are none. */
export interface PoolUse {
  workspaceId: string;
  runtimeId: string;
  slots: number;
  memoryMb: number | null;
  cpuMillicores: number | null;
  usedSlots: number;
  usedMemoryMb: number;
  usedCpuMillicores: number;
  cleanupPending: number;
  waiting: number;
  oldestWaitSec: number;
}

/** What the database has and Temporal has not confirmed. */
export interface OutboxBacklog {
  kind: 'scorecard' | 'run';
  entries: number;
  ageSec: number;
}

/** Reads everything there is: given up rather than felt. */
const RUNS_MS = 10_000;
const INDEXED_MS = 2_000;

/** Totals over all workspaces. */
export class CensusStore {
  constructor(private readonly dataSource: DataSource) {}

  runs(): Promise<RunGroup[]> {
    return boundedRead(this.dataSource, RUNS_MS, (db) =>
      rows(
        db,
        `SELECT CASE WHEN outcome IS NOT NULL THEN 'settled' WHEN open_attempt IS NOT NULL THEN 'running'
                     WHEN asked_at IS NOT NULL THEN 'waiting' ELSE 'queued' END AS state,
           outcome, error_class AS "errorClass", count(*) AS count
         FROM runs
         WHERE carried_from IS NULL
           AND (scorecard_id IS NULL OR scorecard_id NOT IN (SELECT id FROM scorecards WHERE deleted_at IS NOT NULL))
         GROUP BY 1, 2, 3`,
      ),
    );
  }

  /** By indexes of what is live and what waits: as cheap with a million settled runs as with none. */
  pools(): Promise<PoolUse[]> {
    return boundedRead(this.dataSource, INDEXED_MS, (db) =>
      rows(
        db,
        `SELECT p.workspace_id AS "workspaceId", p.runtime_id AS "runtimeId", p.slots, p.memory_mb AS "memoryMb",
           p.cpu_millicores AS "cpuMillicores", coalesce(a.slots, 0) AS "usedSlots",
           coalesce(a.memory_mb, 0) AS "usedMemoryMb", coalesce(a.cpu_millicores, 0) AS "usedCpuMillicores",
           coalesce(a.pending, 0) AS "cleanupPending", coalesce(w.waiting, 0) AS waiting,
           coalesce(extract(epoch FROM now() - w.oldest), 0)::float8 AS "oldestWaitSec"
         FROM pools p
         LEFT JOIN (
           SELECT pool_id, count(*) AS slots, sum(memory_mb) AS memory_mb, sum(cpu_millicores) AS cpu_millicores,
             count(cleanup_pending_at) AS pending
           FROM attempts WHERE closed_at IS NULL GROUP BY pool_id
         ) a ON a.pool_id = p.id
         LEFT JOIN (
           SELECT pool_id, count(*) AS waiting, min(asked_at) AS oldest FROM runs
           WHERE asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL GROUP BY pool_id
         ) w ON w.pool_id = p.id
         ORDER BY coalesce(a.slots, 0) + coalesce(w.waiting, 0) DESC, p.id`,
      ),
    );
  }

  outbox(): Promise<OutboxBacklog[]> {
    const age = 'coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "ageSec"';
    return boundedRead(this.dataSource, INDEXED_MS, (db) =>
      rows(
        db,
        `SELECT 'scorecard' AS kind, count(*) AS entries, ${age} FROM scorecards WHERE started_at IS NULL
         UNION ALL
         SELECT 'run', count(*), ${age} FROM runs WHERE scorecard_id IS NULL AND started_at IS NULL`,
      ),
    );
  }
}
