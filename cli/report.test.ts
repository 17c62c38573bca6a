import { aRun, aScorecard } from '../test/cli-fakes.js';
import { report, runTable } from './report.js';

const url = 'http://127.0.0.1:8787';

describe('the report', () => {
  test('shows the pass rate three ways, each with its number of cases and its interval', () => {
    const scorecard = aScorecard({ counts: { passed: 8, failed: 1, errored: 1, infraErrors: 1 } });
    const text = report({ scorecard, notPassed: [], url, columns: 120 });
    expect(text).toContain('tasks@1.0.0 × solver@1.0.0 on desk@1.0.0: completed in 1:05');
    expect(text).toContain('8 passed, 1 failed, 1 errored (1 infra), 0 cancelled');
    expect(text).toMatch(/first attempt +8 +10 +80\.0 % +10\.0 % to 90\.0 %/);
    expect(text).toMatch(/final +8 +10 +80\.0 %/);
    expect(text).toMatch(/infra excluded +8 +9 +88\.9 %/);
  });

  test('says that it ended early, and with which verdict', () => {
    const stoppedEarly = {
      verdict: 'block',
      ...{ errorRate: 0.05, seen: 20, total: 50, at: '2026-01-01T00:00:00.000Z' },
      reason: 'after 20 of 50 cases minPassRate: 9 of 20 did not pass where 5 of 50 may, at an error rate of 0.05',
    } as const;
    const scorecard = { ...aScorecard({ counts: { passed: 11, failed: 9, cancelled: 30 } }), stoppedEarly };
    const text = report({ scorecard, notPassed: [], url, columns: 120 });
    expect(text).toContain(`completed in 1:05\nended early, verdict block: ${stoppedEarly.reason}; what had not ended`);
  });

  test('says what an operator decided, and that no rate counts it', () => {
    const scorecard = aScorecard({ counts: { passed: 2, decided: 1 } });
    const run = aRun({ outcome: 'passed', decidedBy: 'ann', reason: 'checked by hand' });
    expect(report({ scorecard, notPassed: [], url, columns: 120 })).toContain(
      'in no rate: 1 run decided by an operator',
    );
    expect(runTable([run], 120)).toMatch(/passed \(operator\) +checked by hand/);
  });

  test('has no rate where there is nothing to divide by', () => {
    const text = report({ scorecard: aScorecard({ counts: { cancelled: 2 } }), notPassed: [], url, columns: 120 });
    expect(text).toMatch(/final +0 +0 +– +–/);
  });

  test('lists what did not pass with outcome, code and reason', () => {
    const runs = [
      aRun(),
      aRun({
        id: 'sc_1.12',
        caseId: 'slow',
        outcome: 'errored',
        errorClass: 'agent',
        errorCode: 'TIMEOUT',
        reason: 'ran 5.0 s',
      }),
    ];
    const text = report({
      scorecard: aScorecard({ counts: { failed: 1, errored: 1 } }),
      notPassed: runs,
      url,
      columns: 120,
    });
    expect(text).toMatch(/ 7 {2}math\/sum {2}failed +expected 4, the answer is 5\n/);
    expect(text).toMatch(/12 {2}slow +errored agent\/TIMEOUT {2}ran 5\.0 s\n/);
    expect(text).toContain('everdict run logs sc_1.7');
  });

  test('lists a bounded number and says how to see the rest', () => {
    const notPassed = Array.from({ length: 20 }, (_, at) => aRun({ id: `sc_1.${at}` }));
    const text = report({ scorecard: aScorecard({ counts: { failed: 500 } }), notPassed, url, columns: 120 });
    expect(text).toContain('not passed (500)');
    expect(text).toContain('… and 480 more: npx everdict scorecard cases sc_1 --not-passed');
  });

  test('lets no text of a job reach the terminal as an escape sequence', () => {
    const run = aRun({ caseId: 'a\u001b[2Jb', reason: 'line one\nline \u001b[31mtwo' });
    expect(runTable([run], 120)).toContain('ab    failed   line one line two\n');
  });

  test('makes a reason of the graders where the platform gives none', () => {
    const scores = [
      { grader: 'exit', kind: 'exit-code', passed: true, detail: 'exit code 0' },
      { grader: 'sum', kind: 'numeric', passed: false, detail: 'expected 4, got 5' },
    ];
    expect(runTable([aRun({ reason: null, scores })], 120)).toContain('sum: expected 4, got 5');
  });

  test('names the trial of a case that ran several times', () => {
    expect(runTable([aRun({ trial: 3 })], 120)).toContain('math/sum#3');
  });
});
