import type { DataSource } from 'typeorm';
import type { WorkClass } from '../contracts/admission.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { ScorecardView } from '../contracts/scorecard.js';
import type { Counts, Rates } from '../contracts/scorecard-numbers.js';
import type { OpenRun } from '../policy/partition.js';
import { auditWithin } from './audit-draft.js';
import { confirmNamed } from './confirmation.js';
import { demandOfRow } from './demand-row.js';
import { type Creation, claimKey } from './idempotency.store.js';
import { listed, type ScorecardFilter } from './scorecard-filter.js';
import { insertScorecard, type NewScorecard } from './scorecard-insert.js';
import { RUN_TALLY, talliesOf, viewsOf } from './scorecard-view.js';
import { affected, row, rows, transaction } from './sql.js';

/** What a root workflow is started with. */
export interface UnstartedScorecard {
  id: string;
  workspaceId: string;
  total: number;
  /** Epoch ms. */
  deadlineAt?: number;
  stopsEarly?: true;
  isRegrade?: true;
}

interface UnstartedRow {
  id: string;
  workspace_id: string;
  total: number;
  deadline_at: Date | null;
  stops_early: boolean;
  is_regrade: boolean;
}

export interface ScorecardPlan {
  total: number;
  concurrency?: number;
  /** Slots of all pools its runs wait in. */
  slots: number;
  isCancelRequested: boolean;
}

interface PartitionRow {
  id: string;
  case_id: string;
  pool_id: string;
  kind: RuntimeKind;
  class: WorkClass;
  memory_mb: number | null;
  cpu_millicores: number | null;
  infra_retries: number;
  asked_at: Date | null;
  attempt: number;
  open_seq: number | null;
  is_cancel_requested: boolean;
  is_promoted: boolean;
}

const toOpenRun = (stored: PartitionRow): OpenRun => ({
  runId: stored.id,
  caseId: stored.case_id,
  poolId: stored.pool_id,
  kind: stored.kind,
  class: stored.class,
  demand: demandOfRow(stored),
  infraRetries: stored.infra_retries,
  ...(stored.asked_at && { askedAt: stored.asked_at.getTime() }),
  attempt: stored.attempt,
  ...(stored.open_seq !== null && { openSeq: stored.open_seq }),
  isCancelRequested: stored.is_cancel_requested,
  ...(stored.is_promoted && { isPromoted: true }),
});

/** Runs that are cancelled in one transaction. */
const CANCEL_BATCH = 1_000;

/**
 * The runs from one ordinal up to another, by their keys: fresh runs have no statistics yet, and by ordinal the planner may
 * read all of a scorecard's for each part of them.
 */
export const runIdsOf = (scorecardId: string, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `${scorecardId}.${from + i}`);

export class ScorecardStore {
  constructor(private readonly dataSource: DataSource) {}

  /** One transaction: the idempotency key, the scorecard and all its runs. */
  create(scorecard: NewScorecard): Promise<Creation> {
    const { id, workspaceId, idempotencyKey, confirmation, depth } = scorecard;
    return transaction(this.dataSource, async (db) => {
      const earlier = idempotencyKey && (await claimKey(db, workspaceId, idempotencyKey, id));
      if (earlier) return earlier;
      const limits = confirmation && (await confirmNamed(db, workspaceId, confirmation));
      const runs = await insertScorecard(db, scorecard);
      await depth?.require(db, workspaceId, runs);
      await auditWithin(db, { object: id });
      return { kind: 'created', id, ...(limits && { limits }) };
    });
  }

  async find(workspaceId: string, id: string): Promise<ScorecardView | undefined> {
    return (
      await viewsOf(this.dataSource, 'WHERE s.workspace_id = $1 AND s.id = $2 AND s.deleted_at IS NULL', [
        workspaceId,
        id,
      ])
    )[0];
  }

  async exists(workspaceId: string, id: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM scorecards WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL';
    return (await row(this.dataSource, sql, [workspaceId, id])) !== undefined;
  }

  /** Who submitted it; null where nobody was asked. */
  async submitterOf(id: string): Promise<string | null | undefined> {
    const found = await row<{ created_by: string | null }>(
      this.dataSource,
      'SELECT created_by FROM scorecards WHERE id = $1',
      [id],
    );
    return found?.created_by;
  }

  /** Newest first. */
  async list(workspaceId: string, filter: ScorecardFilter): Promise<ScorecardView[]> {
    const { where, params } = await listed(this.dataSource, workspaceId, filter);
    return viewsOf(this.dataSource, where, params);
  }

  async counts(id: string): Promise<Counts | undefined> {
    return (await talliesOf(this.dataSource, [id])).get(id)?.counts;
  }

  async rates(id: string): Promise<Rates | undefined> {
    return (await talliesOf(this.dataSource, [id])).get(id)?.rates;
  }

  /** Those whose root workflow Temporal has not confirmed, oldest first. */
  async unstarted(limit: number): Promise<UnstartedScorecard[]> {
    const found = await rows<UnstartedRow>(
      this.dataSource,
      `SELECT id, workspace_id, total, deadline_at, early_stop IS NOT NULL AS stops_early,
         regrade_of IS NOT NULL AS is_regrade FROM scorecards
       WHERE started_at IS NULL ORDER BY created_at LIMIT $1`,
      [limit],
    );
    return found.map(({ id, workspace_id, total, deadline_at, stops_early, is_regrade }) => ({
      id,
      workspaceId: workspace_id,
      total,
      ...(deadline_at && { deadlineAt: deadline_at.getTime() }),
      ...(stops_early && { stopsEarly: true }),
      ...(is_regrade && { isRegrade: true }),
    }));
  }

  async markStarted(id: string): Promise<void> {
    await rows(this.dataSource, 'UPDATE scorecards SET started_at = now() WHERE id = $1 AND started_at IS NULL', [id]);
  }

  /**
   * Cancels every run without an open attempt and marks the others, whose cases then stop them: some at a time, so that
   * nobody waits long for a run. Called again, it goes on where it was broken off. What is being stopped early is not
   * cancelled by that.
   * `finished`: every run has its outcome, and nothing changes. Absent: no such scorecard.
   */
  async requestCancel(id: string): Promise<'requested' | 'finished' | undefined> {
    const known = await row<{ total: number }>(this.dataSource, 'SELECT total FROM scorecards WHERE id = $1', [id]);
    if (!known) return undefined;
    let cancelled = 0;
    for (let from = 0; from < known.total; from += CANCEL_BATCH) {
      cancelled += await this.cancelRuns(id, from, from + CANCEL_BATCH);
    }
    return cancelled > 0 ? 'requested' : 'finished';
  }

  private cancelRuns(id: string, from: number, to: number): Promise<number> {
    const runIds = runIdsOf(id, from, to);
    return transaction(this.dataSource, async (db) => {
      const open = 'id = ANY ($1) AND outcome IS NULL';
      await rows(db, `SELECT 1 FROM runs WHERE ${open} ORDER BY id FOR NO KEY UPDATE`, [runIds]);
      const cancelled = await affected(
        db,
        `UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, now()),
           outcome = CASE WHEN open_attempt IS NULL THEN 'cancelled' END,
           settled_at = CASE WHEN open_attempt IS NULL THEN now() END
         WHERE ${open}`,
        [runIds],
      );
      if (cancelled > 0) {
        await rows(
          db,
          `UPDATE scorecards SET cancel_requested_at = coalesce(cancel_requested_at, now())
           WHERE id = $1 AND stopped_early IS NULL`,
          [id],
        );
      }
      return cancelled;
    });
  }

  /**
   * Marks it finished if every run has its outcome and no attempt of it is left anywhere, but those whose removal was
   * given up, which a sweep goes on with. Whether it is finished now.
   */
  async complete(id: string): Promise<boolean> {
    // In order, or the planner hopes to meet a run soon by reading all there are.
    const finished = await affected(
      this.dataSource,
      `UPDATE scorecards s SET finished_at = coalesce(finished_at, now()),
         tally = coalesce(tally, (SELECT to_jsonb(r) FROM (${RUN_TALLY}) r))
       WHERE s.id = $1
         AND (SELECT id FROM runs WHERE scorecard_id = $1 AND outcome IS NULL ORDER BY id LIMIT 1) IS NULL
         AND NOT EXISTS (
           SELECT FROM attempts a JOIN runs r ON r.id = a.run_id
           WHERE a.closed_at IS NULL AND a.cleanup_pending_at IS NULL AND r.scorecard_id = $1)`,
      [id],
    );
    return finished > 0;
  }

  async plan(id: string): Promise<ScorecardPlan | undefined> {
    const plan = await row<{ total: number; concurrency: number | null; slots: number; is_cancel_requested: boolean }>(
      this.dataSource,
      `SELECT total, concurrency, cancel_requested_at IS NOT NULL AS is_cancel_requested,
         (SELECT coalesce(sum(slots), 0) FROM pools WHERE id = ANY (pool_ids)) AS slots
       FROM scorecards WHERE id = $1`,
      [id],
    );
    if (!plan) return undefined;
    const { total, concurrency, slots, is_cancel_requested } = plan;
    return {
      total,
      slots,
      isCancelRequested: is_cancel_requested,
      ...(concurrency !== null && { concurrency }),
    };
  }

  /** Runs without outcome whose ordinal is in `from` to `to - 1`: those that were promoted first. */
  async partition(id: string, from: number, to: number): Promise<OpenRun[]> {
    const found = await rows<PartitionRow>(
      this.dataSource,
      `SELECT r.id, r.case_id, r.pool_id, p.kind, r.class, r.memory_mb, r.cpu_millicores, r.infra_retries,
         r.asked_at, r.cancel_requested_at IS NOT NULL AS is_cancel_requested, o.seq AS open_seq,
         r.promoted_at IS NOT NULL AS is_promoted,
         coalesce(r.open_attempt, (SELECT max(attempt) + 1 FROM attempts WHERE run_id = r.id), 1) AS attempt
       FROM runs r JOIN pools p ON p.id = r.pool_id
       LEFT JOIN attempts o ON o.run_id = r.id AND o.attempt = r.open_attempt
       WHERE r.id = ANY ($1) AND r.outcome IS NULL ORDER BY r.promoted_at, r.ordinal`,
      [runIdsOf(id, from, to)],
    );
    return found.map(toOpenRun);
  }
}
