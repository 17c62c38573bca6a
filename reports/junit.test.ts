import fc from 'fast-check';
import { convert } from 'xmlbuilder2';
import { aScorecard } from '../test/cli-fakes.js';
import { aChange, aComparison, aGate, aReportedRun, aTrialReport, reportData } from '../test/report-data.js';
import { jsonReport } from './json.js';
import { junitReport } from './junit.js';

interface Suite {
  '@tests': string;
  '@failures': string;
  '@errors': string;
  '@skipped': string;
  properties: { property: { '@name': string; '@value': string }[] };
  testcase: Record<string, unknown>[];
}

/** As a reader of XML sees it. */
function suiteOf(xml: string): Suite {
  const read = convert(xml, { format: 'object' }) as unknown as { testsuites: { testsuite: Suite } };
  const { testsuite } = read.testsuites;
  return { ...testsuite, testcase: [testsuite.testcase ?? []].flat() };
}

const runs = [
  aReportedRun({ id: 'sc_1.0', caseId: 'good', outcome: 'passed', reason: null }),
  aReportedRun({ id: 'sc_1.1', caseId: 'wrong', reason: 'expected 4' }),
  aReportedRun({
    id: 'sc_1.2',
    caseId: 'broken',
    outcome: 'errored',
    errorClass: 'infra',
    errorCode: 'NODE_LOST',
    reason: 'the node is gone',
  }),
  aReportedRun({ id: 'sc_1.3', caseId: 'stopped', outcome: 'cancelled', reason: null }),
  aReportedRun({ id: 'sc_1.4', caseId: 'waved', outcome: 'passed', decidedBy: 'ann', reason: 'looks right' }),
  aReportedRun({ id: 'sc_1.5', caseId: 'worse', reason: 'was right before' }),
];
const data = reportData({
  scorecard: aScorecard({ counts: { passed: 2, failed: 2, errored: 1, cancelled: 1, infraErrors: 1 } }),
  runs,
  comparison: aComparison([
    aChange('worse', 'regressed', {
      candidate: { run: 'sc_1.5', outcome: 'failed', errorClass: null, errorCode: null, reason: null, scores: null },
    }),
    aChange('gone', 'missing', { candidate: null }),
  ]),
  gate: aGate('block'),
  trials: aTrialReport({ flaky: [{ caseId: 'coin', passed: 1, failed: 2 }], flakyCount: 1 }),
});

describe('the JUnit report', () => {
  test('makes of each outcome what readers of JUnit know, regressions first', () => {
    const { testcase, ...suite } = suiteOf(junitReport(data));
    const kinds = testcase.map((test) => [
      test['@name'],
      Object.keys(test).filter((key) => /^(failure|error|skipped)$/.test(key)),
    ]);
    expect(kinds).toEqual([
      ['worse', ['failure']],
      ['wrong', ['failure']],
      ['broken', ['error']],
      ['stopped', ['skipped']],
      ['good', []],
      ['waved', ['skipped']],
      ['gone', ['skipped']],
    ]);
    expect(suite).toMatchObject({ '@tests': '7', '@failures': '2', '@errors': '1', '@skipped': '3' });
    expect(testcase[0]).toMatchObject({ failure: { '@message': 'regressed: was right before', '@type': 'regressed' } });
    expect(testcase[2]).toMatchObject({
      error: { '@message': 'the node is gone', '@type': 'errored infra/NODE_LOST' },
    });
  });

  test('has the rates, the verdict, its reasons and the flaky cases as properties', () => {
    const { properties } = suiteOf(junitReport(data));
    const named = Object.fromEntries(properties.property.map((property) => [property['@name'], property['@value']]));
    expect(named).toMatchObject({
      'rate.final': '0.4',
      'rate.final.n': '5',
      'rate.final.low': '0.1',
      verdict: 'block',
      'verdict.reason.1': 'TOO_MANY_REGRESSIONS: 1 case regressed, 0 are allowed',
      'transition.regressed': '1',
      'delta.tokens': '200',
      'flaky.1': 'coin: 1 passed, 2 failed',
    });
  });

  test('names the trial where there are several', () => {
    const scorecard = aScorecard({ trials: 3, counts: { failed: 1 } });
    expect(
      suiteOf(junitReport(reportData({ scorecard, runs: [aReportedRun({ trial: 2 })] }))).testcase[0],
    ).toMatchObject({
      '@name': 'math/sum#2',
    });
  });

  test('is XML that can be read, whatever a job said', () => {
    const letters = fc.string({
      unit: fc.constantFrom(
        '\u0000',
        '\u001b',
        '\ufffe',
        '\uffff',
        '\ud800',
        ']]>',
        '<!--',
        '&',
        '"',
        "'",
        '\n',
        'a',
        '😀',
      ),
    });
    fc.assert(
      fc.property(letters, (text) => {
        const scores = [{ grader: text, kind: 'equals', passed: false, detail: text }];
        const xml = junitReport(
          reportData({ runs: [aReportedRun({ caseId: text, reason: text, scores, errorCode: text })] }),
        );
        expect(xml).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
        expect(suiteOf(xml).testcase).toHaveLength(1);
      }),
    );
  });

  test('a scorecard of which nothing ran has no test', () => {
    expect(suiteOf(junitReport(reportData({ scorecard: aScorecard() })))).toMatchObject({ '@tests': '0' });
  });
});

test('the JSON report has everything, and null for what is not known', () => {
  expect(JSON.parse(jsonReport(data))).toMatchObject({
    title: 'Everdict: block',
    verdict: 'block',
    scorecard: { id: 'sc_1' },
    comparison: { baseline: { id: 'sc_0' } },
    trials: { flakyCount: 1 },
    runs: runs.map(({ id }) => ({ id })),
  });
  expect(JSON.parse(jsonReport(reportData()))).toMatchObject({ verdict: null, gate: null, comparison: null });
});
