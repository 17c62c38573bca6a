import type { ExportedRun } from '../../contracts/export.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { ratesOf } from '../../policy/rates.js';
import { EXPORT_FORMATS } from './export-formats.js';

const rates = (passed: number) => ratesOf({ settled: 4, cancelled: 0, passedFirst: 1, passed, infraErrors: 0 });

const scorecard = {
  id: 'sc_1',
  counts: { submitted: 4 },
  rates: rates(3),
  rerolls: [{ rates: rates(1) }, { rates: rates(2) }],
} as unknown as ScorecardView;

const run = (parts: Partial<ExportedRun> = {}): ExportedRun => ({
  ...{ kind: 'run', run: 'sc_1.0', caseId: 'one', trial: 1, tags: ['a,b'], runtime: 'here@1', outcome: 'passed' },
  ...{ errorClass: null, errorCode: null, reason: null, scores: [], attempts: 1, durationMs: 5, tokens: null },
  ...{ costUsd: 0.5, steps: null, carriedFrom: null, decidedBy: null, settledAt: null, ...parts },
});

/** Rows of cells, as RFC 4180 has them. */
function parsed(csv: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, bare = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === '\r\n') records.push([]);
  }
  return records.filter((record) => record.length > 1);
}

const asCsv = (runs: ExportedRun[], hasAnswers = false): Record<string, string>[] => {
  const { head, runs: rows } = EXPORT_FORMATS.csv;
  const [names = [], ...records] = parsed(head(scorecard, hasAnswers) + rows(runs, scorecard, hasAnswers));
  return records.map((record) => Object.fromEntries(names.map((name, at) => [name, record[at] ?? 'missing'])));
};

test('CSV has the numbers before the first re-roll and now beside each run', () => {
  expect(asCsv([run()])).toEqual([
    expect.objectContaining({
      ...{ run: 'sc_1.0', tags: '["a,b"]', tokens: '', costUsd: '0.5', outcome: 'passed', scorecard: 'sc_1' },
      ...{ rerolls: '2', nBefore: '4', passedBefore: '1', n: '4', passed: '3' },
    }),
  ]);
});

test.each(['=1+1', '+1', '-1', '@sum', '\t=1', '\r=1', '＝1'])('a spreadsheet takes %j for no formula', (text) => {
  const [row] = asCsv([run({ caseId: text, reason: text, answer: text })], true);
  expect([row?.['caseId'], row?.['reason'], row?.['answer']]).toEqual([`'${text}`, `'${text}`, `'${text}`]);
});

test.each(['a "b" c', 'one,two', 'one\ntwo', 'one\rtwo', 'one\r\ntwo', '"', 'é😀'])(
  '%j comes through CSV as it is',
  (text) => {
    const rows = asCsv([run({ reason: text, answer: text, answerEncoding: 'utf8', answerCut: true }), run()], true);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ reason: text, answer: text, answerEncoding: 'utf8', answerCut: 'true' });
  },
);

test('JSONL says first how many runs follow, with the whole ledger', () => {
  const { head, runs } = EXPORT_FORMATS.jsonl;
  const [first, ...lines] = (head(scorecard, false) + runs([run(), run({ run: 'sc_1.1' })], scorecard, false))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toEqual({ kind: 'scorecard', runs: 4, scorecard });
  expect(lines).toEqual([run(), run({ run: 'sc_1.1' })]);
});
