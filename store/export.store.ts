import { isUtf8 } from 'node:buffer';
import type { DataSource } from 'typeorm';
import type { ErrorClass } from '../contracts/attempt.js';
import type { ExportedRun } from '../contracts/export.js';
import type { Outcome, Score } from '../contracts/run.js';
import { storedUsage } from './record-json.js';
import { rows } from './sql.js';

const PAGE_RUNS = 500;
/** A page ends with the answer that passes this. */
const PAGE_BYTES = 1024 * 1024;

interface ExportRow {
  ordinal: number;
  id: string;
  case_id: string;
  trial: number;
  tags: string[];
  runtime: string;
  outcome: Outcome | null;
  error_class: ErrorClass | null;
  error_code: string | null;
  reason: string | null;
  scores: Score[] | null;
  attempts: number;
  duration_ms: number | null;
  usage: string | null;
  carried_from: string | null;
  decided_by: string | null;
  settled_at: Date | null;
  answer: Buffer | null;
  is_cut: boolean;
}

/** Sizes are compared before bytes are fetched, so what lies beyond the page is never read. */
const PAGE = `
  SELECT * FROM (
    SELECT r.ordinal, r.id, r.case_id, r.trial, c.tags, p.runtime_id || '@' || r.runtime_version AS runtime, r.outcome,
      r.error_class, r.error_code, r.reason, r.scores, (a.record ->> 'commandMs')::int AS duration_ms,
      (SELECT count(*) FROM attempts n WHERE n.run_id = coalesce(r.carried_from, r.id)) AS attempts,
      a.record ->> 'usage' AS usage, r.carried_from, r.decided_by, r.settled_at,
      CASE WHEN $4 THEN a.answer END AS answer, coalesce((a.record ->> 'answerCut')::boolean, false) AS is_cut,
      sum(CASE WHEN $4 THEN coalesce(octet_length(a.answer), 0) ELSE 0 END) OVER (ORDER BY r.ordinal)
        - CASE WHEN $4 THEN coalesce(octet_length(a.answer), 0) ELSE 0 END AS bytes_before
    FROM (SELECT * FROM runs WHERE scorecard_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3) r
    JOIN dataset_cases c ON c.dataset_pk = r.dataset_pk AND c.ordinal = r.case_ordinal
    JOIN pools p ON p.id = r.pool_id
    LEFT JOIN attempts a ON a.run_id = coalesce(r.carried_from, r.id) AND a.attempt = r.settled_attempt
  ) page WHERE bytes_before < ${PAGE_BYTES} ORDER BY ordinal`;

/** What the runs of a scorecard came to, to take it elsewhere. */
export class ExportStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Pages in the order of the scorecard. Between two of them nothing is held of the database. */
  async *pages(scorecardId: string, hasAnswers: boolean): AsyncGenerator<ExportedRun[]> {
    for (let after = -1; ; ) {
      const page = await rows<ExportRow>(this.dataSource, PAGE, [scorecardId, after, PAGE_RUNS, hasAnswers]);
      const last = page.at(-1);
      if (!last) return;
      after = last.ordinal;
      yield page.map((stored) => toExported(stored, hasAnswers));
    }
  }
}

function toExported(stored: ExportRow, hasAnswers: boolean): ExportedRun {
  const { tokens = null, costUsd = null, steps = null } = storedUsage(stored.usage);
  return {
    kind: 'run',
    run: stored.id,
    caseId: stored.case_id,
    trial: stored.trial,
    tags: stored.tags,
    runtime: stored.runtime,
    outcome: stored.outcome,
    errorClass: stored.error_class,
    errorCode: stored.error_code,
    reason: stored.reason,
    scores: stored.scores ?? [],
    attempts: stored.attempts,
    durationMs: stored.duration_ms,
    tokens,
    costUsd,
    steps,
    carriedFrom: stored.carried_from,
    decidedBy: stored.decided_by,
    settledAt: stored.settled_at?.toISOString() ?? null,
    ...(hasAnswers && { ...textOf(stored.answer), answerCut: stored.is_cut }),
  };
}

/** NUL is no text to most who read it. */
function textOf(answer: Buffer | null): Pick<ExportedRun, 'answer' | 'answerEncoding'> {
  if (answer === null) return { answer: null, answerEncoding: null };
  const answerEncoding = isUtf8(answer) && !answer.includes(0) ? 'utf8' : 'hex';
  return { answer: answer.toString(answerEncoding), answerEncoding };
}
