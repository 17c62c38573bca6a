import type { Demand, WorkClass } from '../contracts/admission.js';
import type { EarlyStopPlan } from '../contracts/early-stop.js';
import { PlatformError } from '../contracts/errors.js';
import type { Params } from '../contracts/harness.js';
import type { CaseFilter } from '../contracts/scorecard.js';
import type { Confirmation } from './confirmation.js';
import type { Depth } from './depth.js';
import type { IdempotencyKey } from './idempotency.store.js';
import { filterParams, selectedCases } from './selected-cases.js';
import { type Queryable, row, rows } from './sql.js';

/** A runtime version and the pool its runs wait in. */
export interface Site {
  poolId: string;
  version: string;
}

/** Where the cases of a scorecard run: all on one site, or each on the site of its own target. */
export type Sites = { every: Site; runtime: string } | { byTarget: Record<string, Site> };

export interface NewScorecard {
  id: string;
  workspaceId: string;
  createdBy?: string;
  idempotencyKey?: IdempotencyKey;
  datasetPk: number;
  harnessPk: number;
  confirmation?: Confirmation;
  /** `runtime`: id@version of the one runtime of all cases. */
  sites: Sites;
  filter?: CaseFilter;
  /** The harness's demand: what a case takes where it declares nothing, per axis. */
  fallback: Demand;
  class: WorkClass;
  trials: number;
  concurrency?: number;
  deadlineSec?: number;
  infraRetries: number;
  params: Params;
  metadata: Record<string, string>;
  earlyStop?: EarlyStopPlan;
  /** Absent: any number may wait. */
  depth?: Depth;
}

/**
 * Inserts a scorecard and all its runs, in the caller's transaction, and says how many. Ordinals are dense, by case and
 * then trial. Where it may end early, cases are in an order drawn at random, as the hash of its id and theirs has it.
 */
export async function insertScorecard(db: Queryable, scorecard: NewScorecard): Promise<number> {
  const selected = filterParams(scorecard.datasetPk, scorecard.filter ?? {});
  const counted = await row<{ cases: number }>(db, `SELECT count(*) AS cases FROM (${selectedCases()}) s`, selected);
  const total = (counted?.cases ?? 0) * scorecard.trials;
  if (total === 0) throw new PlatformError('NO_CASES', 'the filter selects no case of the dataset');
  await scorecard.depth?.refuseHopeless(db, scorecard.workspaceId, total);
  await rows(
    db,
    `INSERT INTO scorecards (id, workspace_id, dataset_pk, harness_pk, runtime, class, trials, concurrency,
       infra_retries, params, metadata, total, deadline_at, pool_ids, created_by, early_stop)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now() + make_interval(secs => $13), $14, $15, $16)`,
    [
      scorecard.id,
      scorecard.workspaceId,
      scorecard.datasetPk,
      scorecard.harnessPk,
      'every' in scorecard.sites ? scorecard.sites.runtime : null,
      scorecard.class,
      scorecard.trials,
      scorecard.concurrency ?? null,
      scorecard.infraRetries,
      JSON.stringify(scorecard.params),
      JSON.stringify(scorecard.metadata),
      total,
      scorecard.deadlineSec ?? null,
      [...new Set(siteRows(scorecard.sites).map(({ pool_id }) => pool_id))],
      scorecard.createdBy ?? null,
      scorecard.earlyStop ? JSON.stringify(scorecard.earlyStop) : null,
    ],
  );
  const inserted = await insertRuns(db, scorecard, selected);
  if (inserted === total) return total;
  throw new PlatformError('RUNTIME_REQUIRED', `${total - inserted} of ${total} runs have no runtime to run on`);
}

/** One row per site; a NULL target stands for every case. */
function siteRows(sites: Sites) {
  if ('every' in sites) return [{ target: null, pool_id: sites.every.poolId, version: sites.every.version }];
  return Object.entries(sites.byTarget).map(([target, { poolId, version }]) => ({ target, pool_id: poolId, version }));
}

function insertRuns(db: Queryable, scorecard: NewScorecard, selected: unknown[]): Promise<number> {
  // Counting through a CTE keeps 100,000 ids from travelling back.
  const sql = `
    WITH inserted AS (
      INSERT INTO runs (id, workspace_id, scorecard_id, ordinal, case_id, trial, dataset_pk, case_ordinal, harness_pk,
        pool_id, runtime_version, class, memory_mb, cpu_millicores, infra_retries)
      SELECT $5 || '.' || n.ordinal, $6, $5, n.ordinal, n.case_id, n.trial, $1, n.case_ordinal, $7,
        site.pool_id, site.version, $8, coalesce(n.memory_mb, $9::int), coalesce(n.cpu_millicores, $10::int), $11
      FROM (
        SELECT s.ordinal AS case_ordinal, s.case_id, s.target, s.memory_mb, s.cpu_millicores, t.trial,
          row_number() OVER (
            ORDER BY CASE WHEN $14::boolean THEN md5($5 || s.case_id) END, s.ordinal, t.trial) - 1 AS ordinal
        FROM (${selectedCases()}) s CROSS JOIN generate_series(1, $12::int) AS t (trial)
      ) n
      JOIN jsonb_to_recordset($13::jsonb) AS site (target text, pool_id text, version text)
        ON site.target IS NULL OR site.target = n.target
      ORDER BY n.ordinal
      RETURNING 1
    ) SELECT count(*) AS affected FROM inserted`;
  const params = [
    ...selected,
    scorecard.id,
    scorecard.workspaceId,
    scorecard.harnessPk,
    scorecard.class,
    scorecard.fallback.memoryMb ?? null,
    scorecard.fallback.cpuMillicores ?? null,
    scorecard.infraRetries,
    scorecard.trials,
    JSON.stringify(siteRows(scorecard.sites)),
    scorecard.earlyStop !== undefined,
  ];
  return row<{ affected: number }>(db, sql, params).then((counted) => counted?.affected ?? 0);
}
