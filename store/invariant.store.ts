import type { DataSource } from 'typeorm';
import type { AuditedAttempt } from '../policy/audit.js';
import { boundedRead } from './bounded.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { rows } from './sql.js';

/** What must hold of every row at every instant, each with the statement that finds where it does not. */
const CHECKS = {
  /**
   * More in use than the limits allow. A lowered limit is no violation while what was granted before is still there:
   * one is an attempt that was opened well after the limits came into force.
   */
  envelope_exceeded: `
    SELECT p.id FROM pools p JOIN (
      SELECT pool_id, count(*) AS slots, sum(memory_mb) AS memory_mb, sum(cpu_millicores) AS cpu_millicores,
        max(opened_at) AS last_opened_at
      FROM attempts WHERE closed_at IS NULL GROUP BY pool_id
    ) a ON a.pool_id = p.id
    WHERE (a.slots > p.slots OR a.memory_mb > p.memory_mb OR a.cpu_millicores > p.cpu_millicores)
      AND a.last_opened_at > p.limits_at + interval '60 seconds'
    ORDER BY p.id`,
  /** Removal is given up after 10 minutes, and the attempt then says that it is pending. */
  settled_run_with_live_attempt: `
    SELECT r.id FROM attempts a JOIN runs r ON r.id = a.run_id
    WHERE a.closed_at IS NULL AND a.cleanup_pending_at IS NULL AND r.settled_at < now() - interval '15 minutes'
    ORDER BY r.id`,
  open_run_without_attempt: `
    SELECT r.id FROM runs r LEFT JOIN attempts a ON a.run_id = r.id AND a.attempt = r.open_attempt
    WHERE r.open_attempt IS NOT NULL AND (a.run_id IS NULL OR a.closed_at IS NOT NULL)
    ORDER BY r.id`,
  /** The runs of a scorecard are as many as were submitted; a finished one, looked at for an hour, has none unsettled. */
  scorecard_counts_differ: `
    SELECT s.id FROM scorecards s JOIN LATERAL (
      SELECT count(*) AS runs, count(*) FILTER (WHERE outcome IS NULL) AS unsettled FROM runs WHERE scorecard_id = s.id
    ) r ON true
    WHERE s.deleted_at IS NULL AND (s.finished_at IS NULL OR s.finished_at > now() - interval '1 hour')
      AND (r.runs <> s.total OR (s.finished_at IS NOT NULL AND r.unsettled > 0))
    ORDER BY s.id`,
} as const;

export type RowInvariant = keyof typeof CHECKS;
export const ROW_INVARIANTS = Object.keys(CHECKS) as RowInvariant[];

const STATEMENT_MS = 10_000;

/** Ids of what violates each invariant. */
export type Violations = Record<RowInvariant, string[]>;

interface AttemptRow extends DemandRow {
  run_id: string;
  attempt: number;
  seq: number;
  opened_at: Date;
  closed_at: Date | null;
}

export class InvariantStore {
  constructor(private readonly dataSource: DataSource) {}

  violations(): Promise<Violations> {
    return boundedRead(this.dataSource, STATEMENT_MS, async (db) => {
      const found: Partial<Violations> = {};
      for (const invariant of ROW_INVARIANTS) {
        found[invariant] = (await rows<{ id: string }>(db, CHECKS[invariant])).map(({ id }) => id);
      }
      return found as Violations;
    });
  }

  /** Pools, those with live attempts or waiting runs first. */
  async pools(limit: number): Promise<{ ids: string[]; total: number }> {
    const found = await rows<{ id: string; total: number }>(
      this.dataSource,
      `SELECT id, count(*) OVER () AS total FROM pools p
       ORDER BY EXISTS (SELECT FROM attempts WHERE pool_id = p.id AND closed_at IS NULL)
             OR EXISTS (SELECT FROM runs WHERE pool_id = p.id
                        AND asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL) DESC, id
       LIMIT $1`,
      [limit],
    );
    return { ids: found.map(({ id }) => id), total: found[0]?.total ?? 0 };
  }

  /** Attempts of a pool that are live, and those that ran under one of these leases. */
  async attempts(poolId: string, seqs: readonly number[]): Promise<AuditedAttempt[]> {
    const found = await rows<AttemptRow>(
      this.dataSource,
      `SELECT run_id, attempt, seq, memory_mb, cpu_millicores, opened_at, closed_at FROM attempts
       WHERE pool_id = $1 AND (closed_at IS NULL OR seq = ANY ($2::bigint[])) ORDER BY seq`,
      [poolId, seqs],
    );
    return found.map(({ run_id, attempt, seq, opened_at, closed_at, ...stored }) => ({
      runId: run_id,
      attempt,
      seq,
      demand: demandOfRow(stored),
      openedAt: opened_at.getTime(),
      ...(closed_at && { closedAt: closed_at.getTime() }),
    }));
  }
}
