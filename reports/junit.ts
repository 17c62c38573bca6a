import { create } from 'xmlbuilder2';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js';
import type { CaseChange } from '../contracts/comparison.js';
import type { ReportedRun, ScorecardReportData } from './data.js';
import { propertiesOf } from './properties.js';
import { caseName, outcomeText, reasonOf, worstFirst } from './run-text.js';
import { oneLine } from './safe-text.js';

const LONGEST_MESSAGE = 1_000;

interface TestCase {
  name: string;
  kind: 'passed' | 'failure' | 'error' | 'skipped';
  type: string;
  message: string;
  /** What each grader that did not pass said. */
  detail: string;
  ms: number;
}

/**
 * The report as JUnit XML: one suite, and a test for each case and trial. Failed is a failure and errored an error;
 * cancelled, missing or decided by an operator is skipped, as none of these is an answer. Regressions come first.
 */
export function junitReport(data: ScorecardReportData): string {
  const { scorecard } = data;
  const tests = [...runTests(data), ...missingTests(data)];
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '' });
  const totals = totalsOf(data, tests);
  const suite = document.ele('testsuites', { name: 'everdict', ...totals }).ele('testsuite', {
    name: `${scorecard.dataset} with ${scorecard.harness}`,
    timestamp: scorecard.createdAt.slice(0, 19),
    ...totals,
  });
  const properties = suite.ele('properties');
  for (const [name, value] of propertiesOf(data)) {
    properties.ele('property', { name, value: oneLine(value, LONGEST_MESSAGE) });
  }
  for (const test of tests) write(suite, scorecard.dataset, test);
  return `${document.end({ prettyPrint: true })}\n`;
}

function totalsOf({ scorecard }: ScorecardReportData, tests: readonly TestCase[]) {
  const count = (wanted: TestCase['kind']): number => tests.filter(({ kind }) => kind === wanted).length;
  const { createdAt, finishedAt } = scorecard;
  const time = finishedAt === null ? 0 : Date.parse(finishedAt) - Date.parse(createdAt);
  const [failures, errors, skipped] = [count('failure'), count('error'), count('skipped')];
  return { tests: tests.length, failures, errors, skipped, time: seconds(time) };
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

function runTests({ runs, comparison, scorecard }: ScorecardReportData): TestCase[] {
  const regressed = new Set(
    comparison?.changes.filter(({ transition }) => transition === 'regressed').map(({ candidate }) => candidate?.run),
  );
  const ordered = worstFirst(runs);
  const first = ordered.filter(({ id }) => regressed.has(id));
  const rest = ordered.filter(({ id }) => !regressed.has(id));
  return [...first, ...rest].map((run) => testOf(run, scorecard.trials, regressed.has(run.id)));
}

const KINDS = { passed: 'passed', failed: 'failure', errored: 'error', cancelled: 'skipped' } as const;

function testOf(run: ReportedRun, trials: number, isRegression: boolean): TestCase {
  const { outcome, decidedBy, scores, durationMs } = run;
  const isAnswer = decidedBy === null && outcome !== null;
  const word = decidedBy === null ? outcomeText(run) : `${outcomeText(run)}, decided by ${decidedBy}`;
  const reason = reasonOf(run);
  const wrong = (scores ?? []).filter(({ passed }) => !passed);
  return {
    name: caseName(run, trials),
    kind: isAnswer ? KINDS[outcome] : 'skipped',
    type: isRegression ? 'regressed' : word,
    message: `${isRegression ? 'regressed: ' : ''}${reason || word}`,
    detail: wrong.map(({ grader, detail }) => `${grader}: ${oneLine(detail, LONGEST_MESSAGE)}\n`).join(''),
    ms: durationMs ?? 0,
  };
}

/** Cases of the baseline that this scorecard does not have. */
const missingTests = ({ comparison }: ScorecardReportData): TestCase[] =>
  (comparison?.changes ?? []).filter(({ transition }) => transition === 'missing').map(missingTest);

const missingTest = ({ key }: CaseChange): TestCase => ({
  name: key,
  kind: 'skipped',
  type: 'missing',
  message: 'missing: in the baseline, and not in this scorecard',
  detail: '',
  ms: 0,
});

function write(suite: XMLBuilder, classname: string, { name, kind, type, message, detail, ms }: TestCase): void {
  const test = suite.ele('testcase', { name: oneLine(name, LONGEST_MESSAGE), classname, time: seconds(ms) });
  if (kind === 'passed') return;
  const told = {
    message: oneLine(message, LONGEST_MESSAGE),
    ...(kind !== 'skipped' && { type: oneLine(type, LONGEST_MESSAGE) }),
  };
  const element = test.ele(kind, told);
  if (detail !== '' && kind !== 'skipped') element.txt(detail);
}
