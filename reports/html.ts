import { createHash } from 'node:crypto';
import type { Rate } from '../contracts/scorecard-numbers.js';
import type { Block, Section, Text } from './blocks.js';
import type { ReportedRun, ScorecardReportData } from './data.js';
import { STYLE } from './html-style.js';
import { lasting, rateText } from './numbers.js';
import { caseName, outcomeText, reasonOf, worstFirst } from './run-text.js';
import { oneLine } from './safe-text.js';
import { introOf, sectionsOf, titleOf } from './sections.js';

/** Entries of each list above the table of all runs. */
const SHOWN = 200;
const LONGEST_TEXT = 2_000;

/** Nothing is loaded from anywhere and no script runs, whatever came into the page. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** The report as one page that needs nothing else. */
export function htmlReport(data: ScorecardReportData): string {
  const title = escaped(titleOf(data));
  const sections = sectionsOf(data, SHOWN).map(section).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1 class="${toneOf(data)}">${title}</h1>
<p>${inline(introOf(data))}</p>
${ratesPicture(data)}
${sections}
${runsSection(data)}
</body>
</html>
`;
}

const toneOf = ({ gate, remark }: ScorecardReportData): string => {
  if (!gate) return remark === undefined ? 'none' : 'unclear';
  return gate.effective === 'pass' || gate.effective === 'block' ? gate.effective : 'unclear';
};

const NAMED = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const;
const isNamed = (letter: string): letter is keyof typeof NAMED => letter in NAMED;

const escaped = (text: string): string =>
  oneLine(text, LONGEST_TEXT).replace(/[&<>"']/g, (letter) => (isNamed(letter) ? NAMED[letter] : letter));

const inline = (text: Text): string =>
  text
    .map((piece) => {
      if (typeof piece === 'string') return escaped(piece);
      return piece.quoted === '' ? '' : `<code>${escaped(piece.quoted)}</code>`;
    })
    .join('');

const section = ({ title, blocks }: Section): string =>
  `<section>\n<h2>${escaped(title)}</h2>\n${blocks.map(block).join('\n')}\n</section>`;

function block(each: Block): string {
  switch (each.kind) {
    case 'text':
      return `<p>${inline(each.text)}</p>`;
    case 'list':
      return listOf(each.items.map(inline)) + moreText(each.more);
    case 'table':
      return table(each);
    case 'commands':
      return listOf(each.commands.map(({ command, why }) => `<code>${escaped(command)}</code> ${escaped(why)}`));
    case 'links':
      return listOf(each.links.map(({ title, url }) => linkTo(title, url)));
  }
}

const listOf = (items: readonly string[]): string => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;

const moreText = (more: number): string => (more > 0 ? `<p class="more">… and ${more} more</p>` : '');

function linkTo(title: string, url: string): string {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) return `${escaped(title)} <code>${escaped(url)}</code>`;
  return `<a href="${escaped(new URL(url).href)}" rel="noreferrer">${escaped(title)}</a>`;
}

function table({ heads, rows, more }: Block & { kind: 'table' }): string {
  const classOf = (at: number): string => (heads[at]?.isNumber ? ' class="number"' : '');
  const titles = heads.map(({ title }, at) => `<th scope="col"${classOf(at)}>${escaped(title)}</th>`).join('');
  const body = rows.map(
    (row) => `<tr>${row.map((cell, at) => `<td${classOf(at)}>${inline(cell)}</td>`).join('')}</tr>`,
  );
  const written = `<table><thead><tr>${titles}</tr></thead><tbody>${body.join('')}</tbody></table>`;
  return `<div class="wide">${written}</div>${moreText(more)}`;
}

/** The three rates with their intervals on one scale, and a mark where the baseline was. */
function ratesPicture({ scorecard, comparison }: ScorecardReportData): string {
  const { firstAttempt, final, infraExcluded } = scorecard.rates;
  const was = comparison?.baseline.rates;
  const rows = [
    rateRow('first attempt', firstAttempt, was?.firstAttempt),
    rateRow('final', final, was?.final),
    rateRow('infra excluded', infraExcluded, was?.infraExcluded),
  ];
  return `<div class="rates">${rows.join('')}</div>`;
}

function rateRow(title: string, rate: Rate, was: Rate | undefined): string {
  const said = rateText(rate);
  const at = (share: number): string => (share * 100).toFixed(2);
  const mark = (share: number, name: string): string =>
    `<rect class="${name}" x="${at(Math.min(share, 0.992))}" y="0" width=".8" height="10"/>`;
  const { low, high } = rate;
  const span =
    low === null || high === null
      ? ''
      : `<rect class="span" x="${at(low)}" y="0" width="${at(high - low)}" height="10"/>`;
  const marks = [was?.rate != null ? mark(was.rate, 'was') : '', rate.rate === null ? '' : mark(rate.rate, 'rate')];
  const label = escaped(`${title}: ${said}${was ? `; baseline ${rateText(was)}` : ''}`);
  const picture = `<svg role="img" aria-label="${label}" viewBox="0 0 100 10" preserveAspectRatio="none">${span}${marks.join('')}</svg>`;
  return `<span>${title}</span>${picture}<span class="faint">${escaped(said)}</span>`;
}

const FILTERS = ['all', 'failed', 'errored', 'cancelled', 'passed'];

function runsSection({ scorecard, runs }: ScorecardReportData): string {
  if (runs.length === 0) return '';
  const { submitted } = scorecard.counts;
  const filters = FILTERS.map((name) => {
    const count = name === 'all' ? runs.length : runs.filter(({ outcome }) => outcome === name).length;
    const input = `<input class="filter" type="radio" name="only" id="only-${name}"${name === 'all' ? ' checked' : ''}>`;
    return `${input}<label for="only-${name}">${name} ${count}</label>`;
  });
  const heads = ['run', 'case', 'outcome', 'why', 'time'].map((title) => `<th scope="col">${title}</th>`).join('');
  const rows = worstFirst(runs).map((run) => runRow(run, scorecard.trials));
  const left = runs.length < submitted ? `<p class="more">${runs.length} of ${submitted} runs are listed</p>` : '';
  return `<section><h2>Runs</h2>${filters.join('')}<div class="wide runs"><table><thead><tr>${heads}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div>${left}</section>`;
}

function runRow(run: ReportedRun, trials: number): string {
  const { id, outcome, decidedBy, durationMs } = run;
  const who = decidedBy === null ? '' : ` (operator ${decidedBy})`;
  const cells = [
    id.slice(id.lastIndexOf('.') + 1),
    caseName(run, trials),
    outcomeText(run) + who,
    outcome === 'passed' && decidedBy === null ? '' : reasonOf(run),
    durationMs === null ? '' : lasting(durationMs),
  ].map(escaped);
  const [number, name, word, why, time] = cells;
  return `<tr class="run ${outcome ?? 'open'}"><td class="number">${number}</td><td><code>${name}</code></td><td class="outcome">${word}</td><td>${why}</td><td class="number">${time}</td></tr>`;
}
