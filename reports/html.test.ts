import { createHash } from 'node:crypto';
import { aScorecard } from '../test/cli-fakes.js';
import { aChange, aComparison, aGate, aReportedRun, aTrialReport, reportData } from '../test/report-data.js';
import { htmlReport } from './html.js';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'</style></table><a href="javascript:alert(1)">`;

const tagsOf = (html: string): string[] => [...html.matchAll(/<([a-z0-9]+)/gi)].map(([, tag = '']) => tag);

describe('the HTML report', () => {
  const data = reportData({
    runs: [aReportedRun(), aReportedRun({ id: 'sc_1.8', caseId: 'good', outcome: 'passed', reason: null })],
    comparison: aComparison([aChange('math/sum', 'regressed')]),
    gate: aGate('block'),
    trials: aTrialReport(),
    links: [{ title: 'all of it', url: 'https://everdict.example/scorecards/sc_1' }],
  });

  test('shows the verdict, the rates with the baseline, regressions and every run', () => {
    const html = htmlReport(data);
    expect(html).toContain('<h1 class="block">Everdict: block</h1>');
    expect(html).toContain('aria-label="final: 80.0 % of 10 (10.0 % to 90.0 %); baseline 90.0 % of 10');
    expect(html).toContain('<h2>Regressions (1)</h2>');
    expect(html).toContain('<tr class="run failed"><td class="number">7</td><td><code>math/sum</code></td>');
    expect(html).toContain('<tr class="run passed"><td class="number">8</td><td><code>good</code></td>');
    expect(html.indexOf('class="run failed"')).toBeLessThan(html.indexOf('class="run passed"'));
  });

  test('loads nothing, runs nothing, and allows the page to do neither', () => {
    const html = htmlReport(data);
    const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).not.toMatch(
      / (src|style|on[a-z]+|srcset|action)=|@import|url\(|<(script|link|iframe|object|embed|base)/i,
    );
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      'https://everdict.example/scorecards/sc_1',
    ]);
  });

  test('no text of a job becomes a part of the page', () => {
    const of = (text: string): string =>
      htmlReport({
        ...data,
        runs: [aReportedRun({ caseId: text, reason: text, errorClass: null, decidedBy: text })],
        comparison: aComparison([aChange(text, 'regressed')]),
        trials: aTrialReport({ flaky: [{ caseId: text, passed: 1, failed: 1 }], flakyCount: 1 }),
        gate: aGate('block', {
          reasons: aGate('block').reasons.map((reason) => ({ ...reason, message: text, cases: [text] })),
        }),
        scorecard: aScorecard({ metadata: { sha: text }, counts: { failed: 1 } }),
        links: [{ title: text, url: `javascript:alert(1)//${text}` }],
      });
    expect(tagsOf(of(HOSTILE))).toEqual(tagsOf(of('harmless')));
  });

  test('has room for ten thousand runs', () => {
    const runs = Array.from({ length: 10_000 }, (_, at) => aReportedRun({ id: `sc_1.${at}`, caseId: `case/${at}` }));
    const html = htmlReport({ ...data, runs });
    expect(tagsOf(html).filter((tag) => tag === 'tr').length).toBeGreaterThan(10_000);
    expect(html.length).toBeLessThan(4_000_000);
  });
});
