import type { DataSource } from 'typeorm';
import { PlatformError } from '../contracts/errors.js';
import { Params } from '../contracts/harness.js';
import type { Reroll, RetryClass } from '../contracts/reroll.js';
import { auditWithin } from './audit-draft.js';
import { type Confirmation, confirmNamed } from './confirmation.js';
import type { Depth } from './depth.js';
import { type Creation, claimKey, type IdempotencyKey } from './idempotency.store.js';
import { COPIED_COLUMNS, copiedInto, lockFinished } from './origin.js';
import { ORIGIN } from './run-view.js';
import { type Queryable, row, rows, transaction } from './sql.js';

/** What of a scorecard is run again, and with what. */
export interface RetryPlan {
  datasetPk: number;
  harness: string;
  params: Params;
  /** It was submitted to one runtime; else each case has its own target. */
  hasRuntime: boolean;
  /** Runs whose result is left behind, and those of them whose result a gate counts. */
  retried: number;
  decidedAgain: number;
  /** The cases of these runs, and the id@version of the runtime of each. */
  cases: ReadonlyMap<string, string>;
}

export interface NewRetry {
  id: string;
  workspaceId: string;
  createdBy: string;
  idempotencyKey?: IdempotencyKey;
  confirmation?: Confirmation;
  /** What the ledger says of the scorecard that is retried. */
  reroll: Reroll;
  depth?: Depth;
}

/** Whether the result of run `r` is of the classes $2. */
const IS_LEFT = '(r.outcome = ANY ($2) OR coalesce(r.error_class = ANY ($2), false))';

/** Whether run `r` did not pass by what was under test: neither infrastructure nor a person ended it. */
const IS_DECIDED = `(r.decided_by IS NULL
  AND (r.outcome = 'failed' OR (r.outcome = 'errored' AND r.error_class IS DISTINCT FROM 'infra')))`;

/** A new scorecard that goes on with what a finished one came to. */
export class RetryStore {
  constructor(private readonly dataSource: DataSource) {}

  /** What of a finished scorecard is run again under these classes. */
  async plan(id: string, classes: readonly RetryClass[]): Promise<RetryPlan> {
    const of = await row<{ dataset_pk: number; harness: string; params: unknown; has_runtime: boolean }>(
      this.dataSource,
      `SELECT s.dataset_pk, h.id || '@' || h.version AS harness, s.params, s.runtime IS NOT NULL AS has_runtime
       FROM scorecards s JOIN harnesses h ON h.pk = s.harness_pk WHERE s.id = $1`,
      [id],
    );
    if (!of) throw new Error(`scorecard ${id} vanished while it was read`);
    const left = await rows<{ case_id: string; runtime: string; runs: number; decided: number }>(
      this.dataSource,
      `SELECT r.case_id, p.runtime_id || '@' || r.runtime_version AS runtime, count(*) AS runs,
         count(*) FILTER (WHERE ${IS_DECIDED}) AS decided
       FROM runs r JOIN pools p ON p.id = r.pool_id
       WHERE r.scorecard_id = $1 AND ${IS_LEFT} GROUP BY 1, 2`,
      [id, classes],
    );
    return {
      datasetPk: of.dataset_pk,
      harness: of.harness,
      params: Params.parse(of.params),
      hasRuntime: of.has_runtime,
      retried: left.reduce((sum, { runs }) => sum + runs, 0),
      decidedAgain: left.reduce((sum, { decided }) => sum + decided, 0),
      cases: new Map(left.map(({ case_id, runtime }) => [case_id, runtime])),
    };
  }

  /** How many runs of a scorecard ended how: `passed`, `errored infra`. */
  async outcomes(id: string): Promise<{ what: string; runs: number }[]> {
    return rows(
      this.dataSource,
      `SELECT concat_ws(' ', outcome, error_class) AS what, count(*) AS runs FROM runs
       WHERE scorecard_id = $1 GROUP BY 1 ORDER BY 1`,
      [id],
    );
  }

  /** One transaction: the idempotency key, the scorecard, what it carries and what it runs again. */
  create(retry: NewRetry): Promise<Creation> {
    const { id, workspaceId, idempotencyKey, confirmation, depth, reroll } = retry;
    return transaction(this.dataSource, async (db) => {
      const earlier = idempotencyKey && (await claimKey(db, workspaceId, idempotencyKey, id));
      if (earlier) return earlier;
      await lockFinished(db, workspaceId, reroll.scorecard);
      await depth?.refuseHopeless(db, workspaceId, reroll.retried);
      const limits = confirmation && (await confirmNamed(db, workspaceId, confirmation));
      await insertScorecard(db, retry);
      await insertRuns(db, retry);
      await depth?.require(db, workspaceId, reroll.retried);
      await auditWithin(db, { object: id });
      return { kind: 'created', id, ...(limits && { limits }) };
    });
  }
}

/** Its deadline is as long after its submit as that of the first was. */
function insertScorecard(db: Queryable, { id, createdBy, reroll }: NewRetry): Promise<unknown> {
  const params = [reroll.scorecard, reroll.classes, id, createdBy, JSON.stringify([reroll])];
  return rows(
    db,
    `INSERT INTO scorecards (id, workspace_id, dataset_pk, harness_pk, runtime, class, trials, concurrency,
       infra_retries, params, metadata, total, deadline_at, pool_ids, created_by, retry_of, rerolls)
     SELECT $3, workspace_id, dataset_pk, harness_pk, runtime, class, trials, concurrency, infra_retries, params, metadata,
       total, now() + (deadline_at - created_at),
       ARRAY (SELECT DISTINCT r.pool_id FROM runs r WHERE r.scorecard_id = $1 AND ${IS_LEFT} ORDER BY 1), $4, id,
       rerolls || $5::jsonb
     FROM scorecards WHERE id = $1`,
    params,
  );
}

/** In the order of the first, under the same numbers. What is carried is settled from the beginning. */
async function insertRuns(db: Queryable, { id, reroll }: NewRetry): Promise<void> {
  const counted = await row<{ fresh: number }>(
    db,
    `WITH inserted AS (
       INSERT INTO runs (${COPIED_COLUMNS}, is_rerolled, carried_from, outcome,
         error_class, error_code, reason, scores, settled_attempt, settled_at, decided_by, settled_xid)
       SELECT ${copiedInto('$3')}, r.is_rerolled OR (kept.outcome IS NULL AND r.outcome <> 'cancelled'), kept.*
       FROM runs r LEFT JOIN LATERAL (
         SELECT ${ORIGIN} AS origin, r.outcome, r.error_class, r.error_code, r.reason, r.scores, r.settled_attempt,
           r.settled_at, r.decided_by, pg_current_xact_id() AS settled_xid
         WHERE NOT ${IS_LEFT}
       ) kept ON true
       WHERE r.scorecard_id = $1 ORDER BY r.ordinal RETURNING carried_from
     ) SELECT count(*) AS fresh FROM inserted WHERE carried_from IS NULL`,
    [reroll.scorecard, reroll.classes, id],
  );
  if (counted?.fresh === reroll.retried) return;
  throw new PlatformError('CONFLICT', `${reroll.scorecard} changed meanwhile: try again`);
}
