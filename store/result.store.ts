import type { DataSource } from 'typeorm';
import type { ErrorClass } from '../contracts/attempt.js';
import type { ComparedScorecard } from '../contracts/comparison.js';
import type { Outcome, Score } from '../contracts/run.js';
import type { CaseResult } from '../policy/case-result.js';
import { storedUsage } from './record-json.js';
import { runIdsOf } from './scorecard.store.js';
import { viewsOf } from './scorecard-view.js';
import { row, rows } from './sql.js';

interface ResultRow {
  id: string;
  case_id: string;
  case_ordinal: number;
  trial: number;
  outcome: Outcome | null;
  error_class: ErrorClass | null;
  error_code: string | null;
  reason: string | null;
  is_decided: boolean;
  scores: Score[] | null;
  usage: string | null;
  duration_ms: number | null;
}

interface CaseRow {
  ordinal: number;
  tags: string[];
  content_hash: string;
  graders_hash: string;
}

/** Runs that one statement reads. */
const PAGE = 5_000;

/** Of a scorecard that was graded anew: by which graders of every case, or by those of which dataset. */
interface GradedRow {
  total: number;
  dataset_pk: number;
  grading_dataset_pk: number | null;
  graders_hash: string | null;
}

/** What the runs of a scorecard came to, all of them at once, to judge and to compare it. */
export class ResultStore {
  constructor(private readonly dataSource: DataSource) {}

  /** A scorecard as comparisons show it. Absent: the workspace has no such scorecard. */
  async scorecard(workspaceId: string, id: string): Promise<ComparedScorecard | undefined> {
    const where = 'WHERE s.workspace_id = $1 AND s.id = $2 AND s.deleted_at IS NULL';
    const [view] = await viewsOf(this.dataSource, where, [workspaceId, id]);
    const content = await row<{ hash: string; cases: number }>(
      this.dataSource,
      'SELECT d.content_hash AS hash, d.case_count AS cases FROM scorecards s JOIN datasets d ON d.pk = s.dataset_pk WHERE s.id = $1',
      [id],
    );
    if (!view || !content) return undefined;
    const { status, dataset, harness, runtime, trials, createdAt, counts, rates, rerolls } = view;
    const its = { dataset, datasetHash: content.hash, datasetCases: content.cases };
    return { id, status, ...its, harness, runtime, trials, createdAt, counts, rates, rerolls };
  }

  /** In the order of the scorecard. A result that was carried has its usage and time from the run that it came from. */
  async ofScorecard(id: string): Promise<CaseResult[]> {
    const scorecard = await row<GradedRow>(
      this.dataSource,
      'SELECT total, dataset_pk, grading_dataset_pk, md5(graders::text) AS graders_hash FROM scorecards WHERE id = $1',
      [id],
    );
    if (!scorecard) return [];
    const { total, graders_hash } = scorecard;
    const results: CaseResult[] = [];
    const cases = new Map<number, CaseRow>();
    for (let from = 0; from < total; from += PAGE) {
      const page = await this.runs(runIdsOf(id, from, Math.min(total, from + PAGE)));
      const unread = new Set(page.map(({ case_ordinal }) => case_ordinal).filter((ordinal) => !cases.has(ordinal)));
      for (const each of await this.cases(scorecard, [...unread])) cases.set(each.ordinal, each);
      for (const run of page) {
        const of = cases.get(run.case_ordinal);
        if (of) results.push(toResult(run, graders_hash === null ? of : { ...of, graders_hash }));
      }
    }
    return results;
  }

  private runs(ids: readonly string[]): Promise<ResultRow[]> {
    return rows<ResultRow>(
      this.dataSource,
      `SELECT r.id, r.case_id, r.case_ordinal, r.trial, r.outcome, r.error_class, r.error_code, r.reason,
         r.decided_by IS NOT NULL AS is_decided, r.scores, a.record ->> 'usage' AS usage,
         (a.record ->> 'commandMs')::int AS duration_ms
       FROM runs r
       LEFT JOIN attempts a ON a.run_id = coalesce(r.carried_from, r.id) AND a.attempt = r.settled_attempt
       WHERE r.id = ANY ($1) ORDER BY r.ordinal`,
      [ids],
    );
  }

  private cases({ dataset_pk, grading_dataset_pk }: GradedRow, ordinals: readonly number[]): Promise<CaseRow[]> {
    return rows<CaseRow>(
      this.dataSource,
      `SELECT c.ordinal, c.tags, md5((c.content - 'graders')::text) AS content_hash,
         md5(coalesce(coalesce(g.content, c.content) -> 'graders', '[]')::text) AS graders_hash
       FROM dataset_cases c LEFT JOIN dataset_cases g ON g.dataset_pk = $2 AND g.case_id = c.case_id
       WHERE c.dataset_pk = $1 AND c.ordinal = ANY ($3)`,
      [dataset_pk, grading_dataset_pk, ordinals],
    );
  }
}

function toResult(stored: ResultRow, of: CaseRow): CaseResult {
  return {
    runId: stored.id,
    caseId: stored.case_id,
    trial: stored.trial,
    tags: of.tags,
    ...(stored.outcome !== null && { outcome: stored.outcome }),
    ...(stored.error_class !== null && { errorClass: stored.error_class }),
    ...(stored.error_code !== null && { errorCode: stored.error_code }),
    ...(stored.reason !== null && { reason: stored.reason }),
    isDecided: stored.is_decided,
    scores: stored.scores ?? [],
    usage: storedUsage(stored.usage),
    ...(stored.duration_ms !== null && { durationMs: stored.duration_ms }),
    contentHash: of.content_hash,
    gradersHash: of.graders_hash,
  };
}
