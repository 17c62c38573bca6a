import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { Grader } from '../contracts/grader.js';
import type { JobRecord } from '../policy/record.js';
import type { Verdict } from '../policy/results.js';
import { auditWithin } from './audit-draft.js';
import { type Confirmation, confirmNamed } from './confirmation.js';
import { type Creation, claimKey, type IdempotencyKey } from './idempotency.store.js';
import { COPIED_COLUMNS, copiedInto, lockFinished } from './origin.js';
import { decodeRecord } from './record-json.js';
import { ORIGIN } from './run-view.js';
import { affected, row, rows, transaction } from './sql.js';
import { verdictParams } from './verdict-columns.js';

export interface NewRegrade {
  id: string;
  workspaceId: string;
  createdBy: string;
  idempotencyKey?: IdempotencyKey;
  confirmation?: Confirmation;
  /** The scorecard whose answers are graded anew. */
  of: string;
  by: { graders: readonly Grader[] } | { datasetPk: number };
}

/** A run whose answer waits to be graded. */
export interface UngradedRun {
  id: string;
  /** Absent: it is no longer stored. */
  record?: JobRecord;
  graders: Grader[];
}

export interface Graded {
  id: string;
  verdict: Verdict;
}

/** Cases that cannot be graded by a dataset: those it does not have, and those it has graders for that need a job. */
export interface Ungradable {
  missing: string[];
  withCommands: string[];
}

/** Whether run `r` has an answer that graders judged. What an operator decided stays decided. */
const IS_JUDGED = `(r.outcome IN ('passed', 'failed') AND r.decided_by IS NULL)`;

/** Runs that are read at once, fewer where their answers are long. */
const PAGE_RUNS = 200;
const PAGE_BYTES = 16 * 1_024 * 1_024;

const PAGE = `
  SELECT id, record, answer, graders FROM (
    SELECT r.id, a.record, a.answer, coalesce(g.content -> 'graders', s.graders, '[]') AS graders,
      sum(coalesce(octet_length(a.answer), 0)) OVER (ORDER BY r.ordinal) - coalesce(octet_length(a.answer), 0) AS before
    FROM (
      SELECT id, ordinal, carried_from, case_id, settled_attempt FROM runs
      WHERE scorecard_id = $1 AND outcome IS NULL ORDER BY ordinal LIMIT ${PAGE_RUNS}
    ) r
    JOIN scorecards s ON s.id = $1
    LEFT JOIN attempts a ON a.run_id = ${ORIGIN} AND a.attempt = r.settled_attempt
    LEFT JOIN dataset_cases g ON g.dataset_pk = s.grading_dataset_pk AND g.case_id = r.case_id
  ) page WHERE before < ${PAGE_BYTES}`;

/** A new scorecard of the stored answers of a finished one. */
export class RegradeStore {
  constructor(private readonly dataSource: DataSource) {}

  /** How many runs of a scorecard have an answer that graders judged. */
  async judged(id: string): Promise<number> {
    const sql = `SELECT count(*) AS runs FROM runs r WHERE r.scorecard_id = $1 AND ${IS_JUDGED}`;
    return (await row<{ runs: number }>(this.dataSource, sql, [id]))?.runs ?? 0;
  }

  /** At most so many of each. */
  async ungradable(id: string, datasetPk: number, most: number): Promise<Ungradable> {
    const of = async (condition: string): Promise<string[]> => {
      const found = await rows<{ case_id: string }>(
        this.dataSource,
        `SELECT DISTINCT r.case_id FROM runs r
         LEFT JOIN dataset_cases g ON g.dataset_pk = $2 AND g.case_id = r.case_id
         WHERE r.scorecard_id = $1 AND ${condition} ORDER BY 1 LIMIT $3`,
        [id, datasetPk, most],
      );
      return found.map(({ case_id }) => case_id);
    };
    return {
      missing: await of('g.case_id IS NULL'),
      withCommands: await of(`g.content -> 'graders' @> '[{"kind": "command"}]'`),
    };
  }

  /** One transaction: the idempotency key, the scorecard, and all its runs: what is to be graded has no outcome yet. */
  create(regrade: NewRegrade): Promise<Creation> {
    const { id, workspaceId, createdBy, idempotencyKey, confirmation, of, by } = regrade;
    return transaction(this.dataSource, async (db) => {
      const earlier = idempotencyKey && (await claimKey(db, workspaceId, idempotencyKey, id));
      if (earlier) return earlier;
      await lockFinished(db, workspaceId, of);
      if (confirmation) await confirmNamed(db, workspaceId, confirmation);
      // It waits in no pool.
      await rows(
        db,
        `INSERT INTO scorecards (id, workspace_id, dataset_pk, harness_pk, runtime, class, trials, infra_retries, params,
           metadata, total, pool_ids, created_by, regrade_of, rerolls, graders, grading_dataset_pk)
         SELECT $2, workspace_id, dataset_pk, harness_pk, runtime, class, trials, infra_retries, params, metadata, total,
           '{}', $3, id, rerolls, $4::jsonb, $5 FROM scorecards WHERE id = $1`,
        [
          of,
          id,
          createdBy,
          'graders' in by ? JSON.stringify(by.graders) : null,
          'datasetPk' in by ? by.datasetPk : null,
        ],
      );
      await rows(
        db,
        `INSERT INTO runs (${COPIED_COLUMNS}, is_rerolled, carried_from,
           settled_attempt, outcome, error_class, error_code, reason, scores, settled_at, decided_by, settled_xid)
         SELECT ${copiedInto('$2')}, r.is_rerolled, ${ORIGIN}, r.settled_attempt, kept.*
         FROM runs r LEFT JOIN LATERAL (
           SELECT r.outcome, r.error_class, r.error_code, r.reason, r.scores, r.settled_at, r.decided_by,
             pg_current_xact_id() AS settled_xid
           WHERE NOT ${IS_JUDGED}
         ) kept ON true
         WHERE r.scorecard_id = $1 ORDER BY r.ordinal`,
        [of, id],
      );
      await auditWithin(db, { object: id });
      return { kind: 'created', id };
    });
  }

  /** Some runs that are not graded yet, with what is stored of them; none at the end only. */
  async page(scorecardId: string): Promise<UngradedRun[]> {
    const found = await rows<{ id: string; record: unknown; answer: Buffer | null; graders: unknown }>(
      this.dataSource,
      PAGE,
      [scorecardId],
    );
    return found.map(({ id, record: stored, answer, graders }) => {
      const record = decodeRecord(stored, answer);
      return { id, graders: z.array(Grader).parse(graders), ...(record && { record }) };
    });
  }

  /** Writes verdicts where there is no outcome: what was cancelled or decided meanwhile, or graded by another, stays. */
  settle(graded: readonly Graded[]): Promise<number> {
    const params = graded.map(({ id, verdict }) => verdictParams(id, verdict));
    return transaction(this.dataSource, (db) =>
      affected(
        db,
        `WITH locked AS MATERIALIZED (SELECT id FROM runs WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE)
         UPDATE runs r SET outcome = g.outcome, error_class = g.error_class, error_code = g.error_code, reason = g.reason,
           scores = g.scores::jsonb, settled_at = now()
         FROM locked JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
           AS g(id, outcome, error_class, error_code, reason, scores) ON g.id = locked.id
         WHERE r.id = g.id AND r.outcome IS NULL AND r.carried_from IS NOT NULL`,
        [0, 1, 2, 3, 4, 5].map((column) => params.map((values) => values[column])),
      ),
    );
  }
}
