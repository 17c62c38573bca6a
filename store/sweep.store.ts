import type { DataSource } from 'typeorm';
import { type RuntimeKind, RuntimeSpec } from '../contracts/runtime.js';
import type { Standings } from '../policy/sweep.js';
import { affected, rows, transaction } from './sql.js';

/** An attempt that keeps its slot. */
export interface LiveAttempt {
  runId: string;
  attempt: number;
  poolId: string;
  kind: RuntimeKind;
  holder: string;
  /** The workflow that was told of its grant. */
  to: string;
  seq: number;
}

/** A confirmed runtime, and the workspace whose it is. */
interface ConfirmedRuntime {
  owner: string;
  spec: RuntimeSpec;
  isConfirmed: boolean;
}

/** Runs that are settled, and keys that are deleted, in one transaction. */
const BATCH = 1_000;

/** What may have lost its owner. Pages are by id, after the one given; `WITH … MATERIALIZED` reads the few open rows first. */
export class SweepStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Kinds of runtime that have pools. */
  async kinds(): Promise<RuntimeKind[]> {
    const found = await rows<{ kind: RuntimeKind }>(this.dataSource, 'SELECT DISTINCT kind FROM pools ORDER BY kind');
    return found.map(({ kind }) => kind);
  }

  /** By run; a run has one at a time. */
  liveAttempts(after: string, limit: number): Promise<LiveAttempt[]> {
    return rows(
      this.dataSource,
      `WITH live AS MATERIALIZED (SELECT * FROM attempts WHERE closed_at IS NULL)
       SELECT l.run_id AS "runId", l.attempt, l.pool_id AS "poolId", p.kind, l.holder, coalesce(r.asked_by, l.holder) AS "to", l.seq
       FROM live l JOIN runs r ON r.id = l.run_id JOIN pools p ON p.id = l.pool_id
       WHERE l.run_id > $1 ORDER BY l.run_id LIMIT $2`,
      [after, limit],
    );
  }

  /** Scorecards that were started and have not finished. */
  async unfinishedScorecards(after: string, limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `WITH unfinished AS MATERIALIZED (SELECT id, started_at FROM scorecards WHERE finished_at IS NULL)
       SELECT id FROM unfinished WHERE started_at IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    );
    return found.map(({ id }) => id);
  }

  /** Single runs that were started, have no outcome and no open attempt. */
  async placelessRuns(after: string, limit: number): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM runs WHERE scorecard_id IS NULL AND started_at IS NOT NULL AND outcome IS NULL
         AND open_attempt IS NULL AND id > $1 ORDER BY id LIMIT $2`,
      [after, limit],
    );
    return found.map(({ id }) => id);
  }

  /** Settles every run of a scorecard whose root is gone, but those with an open attempt: they are reclaimed first. Returns how many. */
  async settleOrphans(scorecardId: string, reason: string): Promise<number> {
    for (let total = 0; ; ) {
      const settled = await transaction(this.dataSource, async (db) => {
        const orphans = await rows<{ id: string }>(
          db,
          `SELECT id FROM runs WHERE scorecard_id = $1 AND outcome IS NULL AND open_attempt IS NULL
           ORDER BY id LIMIT $2 FOR NO KEY UPDATE`,
          [scorecardId, BATCH],
        );
        return affected(
          db,
          `UPDATE runs SET outcome = 'errored', error_class = 'infra', error_code = 'PLATFORM_TERMINATED', reason = $2,
             settled_at = now()
           WHERE id = ANY ($1) AND outcome IS NULL AND open_attempt IS NULL`,
          [orphans.map(({ id }) => id), reason],
        );
      });
      if (settled === 0) return total;
      total += settled;
    }
  }

  /** What is known of these allocations. */
  async standings(names: readonly string[]): Promise<Standings> {
    const found = await rows<{ allocation: string; is_closed: boolean }>(
      this.dataSource,
      'SELECT allocation, closed_at IS NOT NULL AS is_closed FROM attempts WHERE allocation = ANY ($1)',
      [names],
    );
    return new Map(found.map(({ allocation, is_closed }) => [allocation, is_closed ? 'closed' : 'open']));
  }

  /**
   * Where the confirmed runtimes of a kind find their clusters: of each owner, each cluster and namespace once, as the
   * runtime says it that was registered last.
   */
  async clusters(kind: RuntimeKind): Promise<ConfirmedRuntime[]> {
    const found = await rows<{ workspace_id: string; content: unknown }>(
      this.dataSource,
      `SELECT DISTINCT ON (workspace_id, content ->> 'addr', content ->> 'namespace') workspace_id, content
       FROM runtimes WHERE kind = $1 AND confirmed_at IS NOT NULL
       ORDER BY workspace_id, content ->> 'addr', content ->> 'namespace', pk DESC`,
      [kind],
    );
    return found.map(({ workspace_id: owner, content }) => ({
      owner,
      spec: RuntimeSpec.parse(content),
      isConfirmed: true,
    }));
  }

  /** Deletes idempotency keys that have expired. */
  async purgeKeys(): Promise<number> {
    return affected(
      this.dataSource,
      `DELETE FROM idempotency_keys WHERE (workspace_id, route, key) IN (
         SELECT workspace_id, route, key FROM idempotency_keys WHERE created_at < now() - interval '24 hours'
         ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [BATCH],
    );
  }

  /** Forgets replaced values of secrets that no live attempt can have been given. */
  async purgeReplacedSecrets(): Promise<number> {
    return affected(
      this.dataSource,
      `DELETE FROM replaced_secrets WHERE replaced_at <
         coalesce((SELECT min(opened_at) FROM attempts WHERE closed_at IS NULL), now()) - interval '10 minutes'`,
    );
  }
}
