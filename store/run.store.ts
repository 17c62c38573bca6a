import type { DataSource } from 'typeorm';
import type { Demand, WorkClass } from '../contracts/admission.js';
import type { ErrorClass } from '../contracts/attempt.js';
import { EvalCase } from '../contracts/case.js';
import { HarnessSpec, Params } from '../contracts/harness.js';
import type { Outcome, RunView } from '../contracts/run.js';
import { type RuntimeKind, RuntimeSpec } from '../contracts/runtime.js';
import type { Verdict } from '../policy/results.js';
import { type Asked, type AskedRun, noteAsked } from './asked-run.js';
import { auditWithin } from './audit-draft.js';
import { type Confirmation, confirmNamed } from './confirmation.js';
import { demandOfRow } from './demand-row.js';
import type { Depth } from './depth.js';
import { type Creation, claimKey, type IdempotencyKey } from './idempotency.store.js';
import { filterCondition, filterParams, type RunFilter } from './run-filter.js';
import { type PositionedRun, runViews } from './run-view.js';
import type { Site } from './scorecard-insert.js';
import { affected, row, rows, transaction } from './sql.js';
import { VERDICT_COLUMNS, verdictParams } from './verdict-columns.js';

/** A run of its own, not part of a scorecard. */
export interface NewRun {
  id: string;
  workspaceId: string;
  createdBy?: string;
  idempotencyKey?: IdempotencyKey;
  /** A case of a dataset, or one that comes with the request. */
  case: { datasetPk: number; ordinal: number; id: string } | { own: EvalCase };
  harnessPk: number;
  confirmation?: Confirmation;
  site: Site;
  class: WorkClass;
  demand: Demand;
  infraRetries: number;
  params: Params;
  metadata: Record<string, string>;
  /** Absent: any number may wait. */
  depth?: Depth;
}

/** What the case workflow of a single run is started with. */
export interface UnstartedRun {
  runId: string;
  workspaceId: string;
  caseId: string;
  poolId: string;
  kind: RuntimeKind;
  class: WorkClass;
  demand: Demand;
  infraRetries: number;
}

/** Everything a run is made of, to build its job. */
export interface RunJob {
  workspaceId: string;
  scorecardId?: string;
  case: EvalCase;
  harness: HarnessSpec;
  params: Params;
  runtime: RuntimeSpec;
  /** The workspace whose runtime it is. */
  runtimeOwner: string;
  /** Whether somebody who may run has taken harness and runtime on: without, no secret is read for them. */
  isConfirmed: boolean;
  poolId: string;
  infraRetries: number;
  /** Its workspace may have so many open runs, and no more. */
  hasQuota: boolean;
}

/** The guards of a run, all of one row. */
export interface RunGuards {
  outcome?: Outcome;
  errorClass?: ErrorClass;
  openAttempt?: number;
  settledAttempt?: number;
  isCancelRequested: boolean;
}

export class RunStore {
  constructor(private readonly dataSource: DataSource) {}

  create(run: NewRun): Promise<Creation> {
    const { id, workspaceId, idempotencyKey, confirmation, depth } = run;
    return transaction(this.dataSource, async (db) => {
      const earlier = idempotencyKey && (await claimKey(db, workspaceId, idempotencyKey, id));
      if (earlier) return earlier;
      await depth?.refuseHopeless(db, workspaceId, 1);
      const limits = confirmation && (await confirmNamed(db, workspaceId, confirmation));
      await rows(
        db,
        `INSERT INTO runs (id, workspace_id, case_id, dataset_pk, case_ordinal, own_case, harness_pk, params, pool_id,
           runtime_version, class, memory_mb, cpu_millicores, infra_retries, metadata, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
        insertParams(run),
      );
      await depth?.require(db, workspaceId, 1);
      await auditWithin(db, { object: id });
      return { kind: 'created', id, ...(limits && { limits }) };
    });
  }

  async find(workspaceId: string, id: string): Promise<RunView | undefined> {
    const where = `WHERE r.workspace_id = $1 AND r.id = $2
      AND NOT EXISTS (SELECT FROM scorecards WHERE id = r.scorecard_id AND deleted_at IS NOT NULL)`;
    return (await runViews(this.dataSource, where, [workspaceId, id]))[0]?.run;
  }

  /** Runs of a scorecard by ordinal. */
  pageByScorecard(id: string, filter: RunFilter<number>): Promise<PositionedRun[]> {
    const where = `WHERE ${filterCondition(filter)} AND r.scorecard_id = $3 AND r.ordinal > $4 ORDER BY r.ordinal LIMIT $5`;
    return runViews(this.dataSource, where, [...filterParams(filter), id, filter.after ?? -1, filter.limit]);
  }

  /** Runs that are in no scorecard, newest first; a position is an id. */
  async pageOfSingles(workspaceId: string, filter: RunFilter<string>): Promise<RunView[]> {
    // Their ids are together in the order of the key: a page is read from there, however many runs scorecards have.
    const where = `WHERE ${filterCondition(filter)} AND r.workspace_id = $3 AND r.scorecard_id IS NULL
      AND r.id > 'run_' AND r.id < $4 ORDER BY r.id DESC LIMIT $5`;
    const params = [...filterParams(filter), workspaceId, filter.after ?? 'run`', filter.limit];
    return (await runViews(this.dataSource, where, params)).map(({ run }) => run);
  }

  /** Who submitted it, or the scorecard it is of; null where nobody was asked. */
  async submitterOf(id: string): Promise<string | null | undefined> {
    const found = await row<{ subject: string | null }>(
      this.dataSource,
      `SELECT coalesce(r.created_by, s.created_by) AS subject
       FROM runs r LEFT JOIN scorecards s ON s.id = r.scorecard_id WHERE r.id = $1`,
      [id],
    );
    return found?.subject;
  }

  async guards(id: string): Promise<RunGuards | undefined> {
    const found = await row<{
      outcome: Outcome | null;
      error_class: ErrorClass | null;
      open_attempt: number | null;
      settled_attempt: number | null;
      is_cancel_requested: boolean;
    }>(
      this.dataSource,
      `SELECT outcome, error_class, open_attempt, settled_attempt, cancel_requested_at IS NOT NULL AS is_cancel_requested
       FROM runs WHERE id = $1`,
      [id],
    );
    if (!found) return undefined;
    return {
      ...(found.outcome !== null && { outcome: found.outcome }),
      ...(found.error_class !== null && { errorClass: found.error_class }),
      ...(found.open_attempt !== null && { openAttempt: found.open_attempt }),
      ...(found.settled_attempt !== null && { settledAttempt: found.settled_attempt }),
      isCancelRequested: found.is_cancel_requested,
    };
  }

  /** `cancelled`: it had no open attempt and is settled. `requested`: its case stops the attempt. `finished`: it has its outcome. */
  async requestCancel(id: string): Promise<'cancelled' | 'requested' | 'finished' | undefined> {
    const marked = await row<{ is_cancelled: boolean }>(
      this.dataSource,
      `UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, now()),
         outcome = CASE WHEN open_attempt IS NULL THEN 'cancelled' END,
         settled_at = CASE WHEN open_attempt IS NULL THEN now() END
       WHERE id = $1 AND outcome IS NULL RETURNING outcome IS NOT NULL AS is_cancelled`,
      [id],
    );
    if (marked) return marked.is_cancelled ? 'cancelled' : 'requested';
    return (await this.guards(id)) && 'finished';
  }

  /** Single runs whose workflow Temporal has not confirmed, oldest first. */
  async unstarted(limit: number): Promise<UnstartedRun[]> {
    const found = await rows<UnstartedRun & { memory_mb: number | null; cpu_millicores: number | null }>(
      this.dataSource,
      `SELECT r.id AS "runId", r.workspace_id AS "workspaceId", r.case_id AS "caseId", r.pool_id AS "poolId", p.kind,
         r.class, r.memory_mb, r.cpu_millicores, r.infra_retries AS "infraRetries"
       FROM runs r JOIN pools p ON p.id = r.pool_id
       WHERE r.scorecard_id IS NULL AND r.started_at IS NULL ORDER BY r.created_at LIMIT $1`,
      [limit],
    );
    return found.map(({ memory_mb, cpu_millicores, ...run }) => ({
      ...run,
      demand: demandOfRow({ memory_mb, cpu_millicores }),
    }));
  }

  async markStarted(id: string): Promise<void> {
    await rows(this.dataSource, 'UPDATE runs SET started_at = now() WHERE id = $1 AND started_at IS NULL', [id]);
  }

  markAsked(asked: readonly Asked[], askedBy: string): Promise<AskedRun[]> {
    return noteAsked(this.dataSource, asked, askedBy);
  }

  /** Settles a run that has no open attempt; false if it has one, or an outcome. */
  async settleUnplaced(id: string, verdict: Verdict): Promise<boolean> {
    const sql = `UPDATE runs SET ${VERDICT_COLUMNS} WHERE id = $1 AND outcome IS NULL AND open_attempt IS NULL`;
    return (await affected(this.dataSource, sql, verdictParams(id, verdict))) > 0;
  }

  /**
   * Settles a run by somebody's decision, also while it runs: its attempt is then removed like that of a settled run.
   * False if it has an outcome.
   */
  async decide(id: string, verdict: Verdict, decidedBy: string): Promise<boolean> {
    const sql = `UPDATE runs SET ${VERDICT_COLUMNS}, decided_by = $7, settled_attempt = open_attempt, open_attempt = NULL
      WHERE id = $1 AND outcome IS NULL`;
    return (await affected(this.dataSource, sql, [...verdictParams(id, verdict), decidedBy])) > 0;
  }

  /** The runs of one case of a scorecard, by trial. */
  async ofCase(scorecardId: string, caseId: string): Promise<RunView[]> {
    const where = 'WHERE r.scorecard_id = $1 AND r.case_id = $2 ORDER BY r.trial';
    return (await runViews(this.dataSource, where, [scorecardId, caseId])).map(({ run }) => run);
  }

  async jobOf(id: string): Promise<RunJob | undefined> {
    const found = await row<Record<'case' | 'harness' | 'params' | 'runtime', unknown> & JobRow>(
      this.dataSource,
      `SELECT r.workspace_id, r.scorecard_id, r.pool_id, r.infra_retries, coalesce(r.own_case, c.content) AS "case",
         h.content AS harness, coalesce(r.params, s.params, '{}') AS params, t.content AS runtime,
         p.workspace_id AS runtime_owner,
         h.confirmed_at IS NOT NULL AND t.confirmed_at IS NOT NULL AS is_confirmed,
         w.max_running IS NOT NULL AS has_quota
       FROM runs r
       LEFT JOIN dataset_cases c ON c.dataset_pk = r.dataset_pk AND c.ordinal = r.case_ordinal
       LEFT JOIN scorecards s ON s.id = r.scorecard_id
       JOIN workspaces w ON w.id = r.workspace_id
       JOIN harnesses h ON h.pk = r.harness_pk
       JOIN pools p ON p.id = r.pool_id
       JOIN runtimes t ON t.workspace_id = p.workspace_id AND t.id = p.runtime_id AND t.version = r.runtime_version
       WHERE r.id = $1`,
      [id],
    );
    if (!found) return undefined;
    return {
      workspaceId: found.workspace_id,
      ...(found.scorecard_id !== null && { scorecardId: found.scorecard_id }),
      case: EvalCase.parse(found.case),
      harness: HarnessSpec.parse(found.harness),
      params: Params.parse(found.params),
      runtime: RuntimeSpec.parse(found.runtime),
      runtimeOwner: found.runtime_owner,
      isConfirmed: found.is_confirmed,
      poolId: found.pool_id,
      infraRetries: found.infra_retries,
      hasQuota: found.has_quota,
    };
  }
}

interface JobRow {
  workspace_id: string;
  scorecard_id: string | null;
  pool_id: string;
  infra_retries: number;
  runtime_owner: string;
  is_confirmed: boolean;
  has_quota: boolean;
}

function insertParams(run: NewRun): unknown[] {
  const own = 'own' in run.case ? run.case.own : undefined;
  const registered = 'own' in run.case ? undefined : run.case;
  return [
    run.id,
    run.workspaceId,
    own?.id ?? registered?.id,
    registered?.datasetPk ?? null,
    registered?.ordinal ?? null,
    own ? JSON.stringify(own) : null,
    run.harnessPk,
    JSON.stringify(run.params),
    run.site.poolId,
    run.site.version,
    run.class,
    run.demand.memoryMb ?? null,
    run.demand.cpuMillicores ?? null,
    run.infraRetries,
    JSON.stringify(run.metadata),
    run.createdBy ?? null,
  ];
}
