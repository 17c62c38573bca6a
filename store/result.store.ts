import type { DataSource } from 'typeorm';
import type { ErrorClass } from '../contracts/attempt.js';
import type { Outcome, Score } from '../contracts/run.js';
import type { CaseResult } from '../policy/case-result.js';
import type { Side } from '../policy/comparison/side.js';
import { storedUsage } from './record-json.js';
import { viewsOf } from './scorecard-view.js';
import { row, rows } from './sql.js';

interface ResultRow {
  id: string;
  case_id: string;
  trial: number;
  tags: string[];
  outcome: Outcome | null;
  error_class: ErrorClass | null;
  error_code: string | null;
  reason: string | null;
  is_decided: boolean;
  scores: Score[] | null;
  usage: string | null;
  duration_ms: number | null;
  content_hash: string;
  graders_hash: string;
}

/** What the runs of a scorecard came to, all of them at once, to judge and to compare it. */
export class ResultStore {
  constructor(private readonly dataSource: DataSource) {}

  /** A scorecard as one side of a comparison. Absent: the workspace has no such scorecard. */
  async side(workspaceId: string, id: string): Promise<Side | undefined> {
    const [view] = await viewsOf(this.dataSource, 'WHERE s.workspace_id = $1 AND s.id = $2 AND s.deleted_at IS NULL', [
      workspaceId,
      id,
    ]);
    if (!view) return undefined;
    const content = await row<{ hash: string }>(
      this.dataSource,
      `SELECT d.content_hash AS hash FROM scorecards s JOIN datasets d ON d.pk = s.dataset_pk WHERE s.id = $1`,
      [id],
    );
    const { status, dataset, harness, runtime, trials, createdAt, counts, rates, rerolls } = view;
    const datasetHash = content?.hash ?? '';
    return {
      scorecard: { id, status, dataset, datasetHash, harness, runtime, trials, createdAt, counts, rates, rerolls },
      results: await this.ofScorecard(id),
    };
  }

  /** In the order of the scorecard. A result that was carried has its usage and time from the run that it came from. */
  async ofScorecard(id: string): Promise<CaseResult[]> {
    const found = await rows<ResultRow>(
      this.dataSource,
      `WITH cases AS MATERIALIZED (
         SELECT c.ordinal, c.tags, md5((c.content - 'graders')::text) AS content_hash,
           md5(coalesce(s.graders, c.content -> 'graders', '[]')::text) AS graders_hash
         FROM scorecards s JOIN dataset_cases c ON c.dataset_pk = s.dataset_pk
         WHERE s.id = $1 AND c.ordinal IN (SELECT case_ordinal FROM runs WHERE scorecard_id = $1))
       SELECT r.id, r.case_id, r.trial, c.tags, r.outcome, r.error_class, r.error_code, r.reason,
         r.decided_by IS NOT NULL AS is_decided, r.scores, a.record ->> 'usage' AS usage,
         (a.record ->> 'commandMs')::int AS duration_ms, c.content_hash, c.graders_hash
       FROM runs r JOIN cases c ON c.ordinal = r.case_ordinal
       LEFT JOIN attempts a ON a.run_id = coalesce(r.carried_from, r.id) AND a.attempt = r.settled_attempt
       WHERE r.scorecard_id = $1 ORDER BY r.ordinal`,
      [id],
    );
    return found.map(toResult);
  }
}

function toResult(stored: ResultRow): CaseResult {
  return {
    runId: stored.id,
    caseId: stored.case_id,
    trial: stored.trial,
    tags: stored.tags,
    ...(stored.outcome !== null && { outcome: stored.outcome }),
    ...(stored.error_class !== null && { errorClass: stored.error_class }),
    ...(stored.error_code !== null && { errorCode: stored.error_code }),
    ...(stored.reason !== null && { reason: stored.reason }),
    isDecided: stored.is_decided,
    scores: stored.scores ?? [],
    usage: storedUsage(stored.usage),
    ...(stored.duration_ms !== null && { durationMs: stored.duration_ms }),
    contentHash: stored.content_hash,
    gradersHash: stored.graders_hash,
  };
}
