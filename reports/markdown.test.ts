import fc from 'fast-check';
import { marked } from 'marked';
import { aScorecard } from '../test/cli-fakes.js';
import { aChange, aComparison, aGate, aReportedRun, aTrialReport, reportData } from '../test/report-data.js';
import { markdownReport } from './markdown.js';
import { escaped, linkTo, quotedText } from './markdown-text.js';

const rendered = (markdown: string): string => marked.parse(markdown, { async: false, gfm: true });

const HOSTILE = [
  '@octocat and @org/team look',
  'see #12, GH-12, owner/repo#3, !4, JIRA-7',
  'commit deadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
  'https://evil.example/x www.evil.example ftp://evil.example me@evil.example',
  '[click](https://evil.example) ![x](https://evil.example/x.png) <https://evil.example>',
  '<img src=x onerror=alert(1)> <script>alert(1)</script> <!-- hidden --> </details></table>',
  'a | b \\| c \\\\| d',
  '`code` ``more`` ``` fence',
  '``` \n# heading\n- list\n\n---\n| a | b |\n|---|---|',
  '**bold** _under_ ~~gone~~ $x^2$ $$y$$ :+1:',
  '&lt;b&gt; &#64;octocat &commat;octocat',
  '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007 \u001b[31mred\u202e\u200b',
  '/close',
];

/** Tags that a piece of hostile text may lead to: none but those it is put in. */
const tagsOf = (html: string): string[] =>
  [...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag = '']) => tag.toLowerCase());

describe('text of others in Markdown', () => {
  test.each(HOSTILE)('is text in a sentence: %j', (text) => {
    const html = rendered(`before ${escaped(text)} after`);
    expect(new Set(tagsOf(html))).toEqual(new Set(['p']));
    expect(html).not.toMatch(/[@#!][a-z0-9]|:\/\/|www\.|GH-\d|[0-9a-f]{40}/i);
  });

  test.each(HOSTILE)('is one code in a cell: %j', (text) => {
    const html = rendered(`| a | b |\n|---|---|\n| ${quotedText(text)} | end |\n`);
    expect(tagsOf(html).filter((tag) => tag === 'code')).toHaveLength(2);
    expect(tagsOf(html).filter((tag) => tag === 'td')).toHaveLength(4);
    expect(html).toContain('<td>end</td>');
    expect(tagsOf(html).filter((tag) => !/^(table|thead|tbody|tr|th|td|code)$/.test(tag))).toEqual([]);
  });

  test('stays in its cell and adds no tag, whatever it is', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('`', '|', '\\', '<', '>', '[', ']', '(', '*', '_', '@', '&', ' ', 'a', '\n'),
    });
    fc.assert(
      fc.property(hostile, (text) => {
        const html = rendered(`| a | b |\n|---|---|\n| x ${quotedText(text)} | ${escaped(text)}. |\n`);
        expect(tagsOf(html).filter((tag) => tag === 'td')).toHaveLength(4);
        expect(tagsOf(html).filter((tag) => !/^(table|thead|tbody|tr|th|td|code)$/.test(tag))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('begins no list, heading or quote', () => {
    for (const text of ['- a', '+ a', '# a', '1. a', '2) a', '> a', '=== a', '--- ']) {
      expect(tagsOf(rendered(escaped(text)))).toEqual(['p', 'p']);
    }
  });

  test('links only to the web', () => {
    expect(rendered(linkTo('all', 'https://everdict.example/x?a=<b>)'))).toContain(
      'href="https://everdict.example/x?a=%3Cb%3E)"',
    );
    expect(tagsOf(rendered(linkTo('all', 'javascript:alert(1)')))).not.toContain('a');
  });
});

describe('the Markdown report', () => {
  const everything = () =>
    reportData({
      scorecard: aScorecard({
        counts: { passed: 8, failed: 1, errored: 1, infraErrors: 1 },
        metadata: { branch: 'fix' },
        rerolls: [
          {
            ...{
              scorecard: 'sc_0',
              classes: ['infra'],
              retried: 3,
              decidedAgain: 1,
              by: 'ann',
              at: '2026-01-01T00:00:00Z',
            },
            counts: aScorecard({ counts: { passed: 5, errored: 3 } }).counts,
            rates: aScorecard({ counts: { passed: 5, errored: 3 } }).rates,
          },
        ],
      }),
      runs: [aReportedRun({ caseId: 'text/half', reason: 'expected 4' })],
      comparison: aComparison([aChange('fixed/one', 'fixed'), aChange('math/sum', 'regressed')]),
      gate: aGate('inconclusive', {
        evidence: {
          ...aGate().evidence,
          wouldDecide: {
            ...{ rerun: ['sc_1.4'], rerunCount: 7, classes: ['infra'], moreTrials: 2 },
            message: 'run the errored ones again',
          },
        },
      }),
      trials: aTrialReport({ flaky: [{ caseId: 'coin', passed: 2, failed: 1 }], flakyCount: 1 }),
      links: [{ title: 'scorecard', url: 'https://everdict.example/scorecards/sc_1' }],
    });

  test('shows verdict, what would decide it, regressions, three rates, re-rolls, deltas and flaky cases, in this order', () => {
    const text = markdownReport(everything());
    const wanted = [
      '## Everdict: inconclusive',
      'the errored cases could decide',
      'What would decide it: run the errored ones again',
      'run again: `sc_1.4`',
      '### Regressions (1)',
      '| first attempt | 8 | 10 | 80.0 % | 10.0 % to 90.0 % |',
      '| final | 8 | 10 |',
      '| infra excluded | 8 | 9 |',
      '### Before and after results were run again',
      '| before: sc\\_0 | now: sc\\_1 |',
      '| final | 62.5 % of 8 (10.0 % to 90.0 %) | 80.0 % of 10 (10.0 % to 90.0 %) |',
      '1 result that counted as failed was run again',
      '`fixed/one`',
      '| tokens | 10 | 1 000 | 1 200 | +200 | +50 to +350 |',
      '| cost | 10 | 0.0100 USD | 0.0120 USD | +0.0020 USD |',
      '| time | 10 | 4.0 s | 3.0 s | −1.0 s |',
      'Flaky (1):',
      '`coin`: 2 passed, 1 failed',
      '`text/half`',
    ];
    const places = wanted.map((line) => text.indexOf(line));
    expect(wanted.filter((line) => !text.includes(line))).toEqual([]);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(text).toContain('npx everdict gate override gate_1');
  });

  test('is never longer than asked, keeps the verdict and the rates, and says what it leaves out', () => {
    const runs = Array.from({ length: 10_000 }, (_, at) =>
      aReportedRun({ id: `sc_1.${at}`, caseId: `c${at}`, reason: 'é'.repeat(2_000) }),
    );
    const changes = runs.map(({ caseId }) => aChange(caseId, 'regressed'));
    const data = { ...everything(), runs, comparison: aComparison(changes) };
    for (const limit of [1_000_000, 60_000, 9_000, 500]) {
      const text = markdownReport(data, limit);
      expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(limit);
      expect(text).toContain('## Everdict: inconclusive');
      expect(text).toMatch(/… and [\d ]+ more|was cut/);
    }
    expect(markdownReport(data)).toContain('| infra excluded |');
  });

  test('tells what came of a scorecard that no gate judged', () => {
    expect(markdownReport(reportData())).toContain('## Everdict: completed: 8 passed, 2 failed');
    expect(markdownReport(reportData({ scorecard: aScorecard() }))).toContain('nothing ran');
    const first = markdownReport(reportData({ remark: 'there is no baseline yet' }));
    expect(first).toMatch(
      /^## Everdict: cannot tell, completed: 8 passed.*### No verdict\n\nthere is no baseline yet/s,
    );
  });

  test('no text of a job changes what it is made of', () => {
    const hostile = HOSTILE.map((text, at) =>
      aReportedRun({ id: `sc_1.${at}`, caseId: text, reason: text, errorCode: null }),
    );
    const harmless = hostile.map((run) => aReportedRun({ ...run, caseId: 'a', reason: 'b' }));
    const of = (runs: typeof hostile): string[] => tagsOf(rendered(markdownReport({ ...everything(), runs })));
    expect(of(hostile)).toEqual(of(harmless));
  });
});
