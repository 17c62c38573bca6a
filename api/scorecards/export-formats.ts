import { stringify } from 'csv-stringify/sync';
import type { ExportedRun, ExportedScorecard } from '../../contracts/export.js';
import type { ScorecardView } from '../../contracts/scorecard.js';

/** How an export is written: what comes first, and then the runs, some at a time. */
export interface ExportFormat {
  type: string;
  head(scorecard: ScorecardView, hasAnswers: boolean): string;
  runs(page: readonly ExportedRun[], scorecard: ScorecardView, hasAnswers: boolean): string;
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

const jsonl: ExportFormat = {
  type: 'application/x-ndjson',
  head: (scorecard) =>
    line({ kind: 'scorecard', runs: scorecard.counts.submitted, scorecard } satisfies ExportedScorecard),
  runs: (page) => page.map(line).join(''),
};

type Cell = string | number | boolean | null | undefined;

const OF_SCORECARD = {
  scorecard: ({ id }) => id,
  rerolls: ({ rerolls }) => rerolls.length,
  nBefore: ({ rerolls }) => rerolls[0]?.rates.final.n,
  passedBefore: ({ rerolls }) => rerolls[0]?.rates.final.passed,
  n: ({ rates }) => rates.final.n,
  passed: ({ rates }) => rates.final.passed,
} satisfies Record<string, (scorecard: ScorecardView) => Cell>;

const OF_RUN = {
  run: ({ run }) => run,
  caseId: ({ caseId }) => caseId,
  trial: ({ trial }) => trial,
  tags: ({ tags }) => JSON.stringify(tags),
  runtime: ({ runtime }) => runtime,
  outcome: ({ outcome }) => outcome,
  errorClass: ({ errorClass }) => errorClass,
  errorCode: ({ errorCode }) => errorCode,
  reason: ({ reason }) => reason,
  scores: ({ scores }) => JSON.stringify(scores),
  attempts: ({ attempts }) => attempts,
  durationMs: ({ durationMs }) => durationMs,
  tokens: ({ tokens }) => tokens,
  costUsd: ({ costUsd }) => costUsd,
  steps: ({ steps }) => steps,
  carriedFrom: ({ carriedFrom }) => carriedFrom,
  decidedBy: ({ decidedBy }) => decidedBy,
  settledAt: ({ settledAt }) => settledAt,
} satisfies Record<string, (run: ExportedRun) => Cell>;

const OF_ANSWER = {
  answer: ({ answer }) => answer,
  answerEncoding: ({ answerEncoding }) => answerEncoding,
  answerCut: ({ answerCut }) => answerCut,
} satisfies Record<string, (run: ExportedRun) => Cell>;

const columnsOf = (hasAnswers: boolean) => ({ ...OF_RUN, ...(hasAnswers && OF_ANSWER) });

/** As in RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe. */
const table = (rows: Cell[][]): string =>
  stringify(rows, {
    record_delimiter: '\r\n',
    escape_formulas: true,
    // A line break is quoted also where it is not the one that ends records.
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });

const csv: ExportFormat = {
  type: 'text/csv; charset=utf-8',
  head: (_scorecard, hasAnswers) => table([[...Object.keys(columnsOf(hasAnswers)), ...Object.keys(OF_SCORECARD)]]),
  runs: (page, scorecard, hasAnswers) => {
    const same = Object.values(OF_SCORECARD).map((cell) => cell(scorecard));
    return table(page.map((run) => [...Object.values(columnsOf(hasAnswers)).map((cell) => cell(run)), ...same]));
  },
};

export const EXPORT_FORMATS = { jsonl, csv } as const satisfies Record<string, ExportFormat>;
