import type { CaseChange, Comparison, Delta, TrialReport } from '../contracts/comparison.js';
import { type Block, bounded, type Column, quoted, type Section, type Text } from './blocks.js';
import { counted, dollars, interval, lasting, NOTHING, percent, points, rateText, whole, withSign } from './numbers.js';
import { outcomeText, reasonOf } from './run-text.js';

const CHANGE_HEADS: readonly Column[] = [{ title: 'case' }, { title: 'was' }, { title: 'is' }, { title: 'why' }];

/** Cases that passed in the baseline and fail now. */
export function regressionSection(comparison: Comparison, most: number): Section | undefined {
  const regressed = comparison.changes.filter(({ transition }) => transition === 'regressed');
  const count = comparison.counts.regressed;
  if (count === 0) return undefined;
  const { shown, more } = bounded(regressed, most, count);
  const table: Block = { kind: 'table', heads: CHANGE_HEADS, rows: shown.map(changeRow), more };
  return { title: `Regressions (${count})`, blocks: [table] };
}

const changeRow = ({ key, baseline, candidate }: CaseChange): Text[] => [
  [quoted(key)],
  [baseline ? outcomeText(baseline) : NOTHING],
  [candidate ? outcomeText(candidate) : NOTHING],
  candidate ? reasonText(candidate) : [],
];

const reasonText = (run: Parameters<typeof reasonOf>[0]): Text => {
  const reason = reasonOf(run);
  return reason === '' ? [] : [quoted(reason)];
};

const TRANSITIONS: readonly (readonly [name: keyof Comparison['counts'], meaning: string])[] = [
  ['regressed', 'passed, and fails now'],
  ['errored', 'has no verdict now'],
  ['missing', 'in the baseline alone'],
  ['fixed', 'failed, and passes now'],
  ['recovered', 'had no verdict, and has one now'],
  ['new', 'in the candidate alone'],
  ['unchanged', 'as before'],
];

/** What became of every case, the paired test, and the changes that are no regressions. */
export function comparisonSection(comparison: Comparison, most: number): Section {
  const { baseline, basis, differs, counts, test } = comparison;
  const blocks: Block[] = [
    { kind: 'text', text: ['Against ', quoted(baseline.id), ` (${baseline.dataset} with ${baseline.harness}).`] },
  ];
  if (basis === 'intersection') {
    const left = differs.map(({ message }): Text => [message]);
    blocks.push({ kind: 'text', text: ['Only cases that are the same on both sides are compared. What differs:'] });
    blocks.push({ kind: 'list', items: left, more: 0 });
  }
  const rows = TRANSITIONS.map(([name, meaning]) => [[name], [meaning], [String(counts[name])]]);
  const heads = [{ title: 'transition' }, { title: 'meaning' }, { title: 'cases', isNumber: true }];
  blocks.push({ kind: 'table', heads, rows, more: 0 });
  blocks.push({ kind: 'text', text: [testText(test)] });
  const others = comparison.changes.filter(({ transition }) => transition !== 'regressed');
  const total = TRANSITIONS.reduce(
    (sum, [name]) => (name === 'regressed' || name === 'unchanged' ? sum : sum + counts[name]),
    0,
  );
  const { shown, more } = bounded(others, most, total);
  if (total > 0) {
    const changes = shown.map((change) => [[change.transition], ...changeRow(change)]);
    blocks.push({ kind: 'table', heads: [{ title: 'transition' }, ...CHANGE_HEADS], rows: changes, more });
  }
  return { title: 'Compared with the baseline', blocks };
}

function testText({ pairs, regressed, fixed, pValue, difference, low, high }: Comparison['test']): string {
  if (difference === null) return 'No case is known on both sides: nothing can be tested.';
  return `Over ${counted(pairs, 'case')}: ${regressed} regressed, ${fixed} fixed; difference of the pass rates ${points(difference)} (95 % interval ${interval(low, high, points)}); exact McNemar p = ${pValue.toPrecision(3)}.`;
}

const QUANTITIES: readonly (readonly [
  name: keyof Comparison['usage'],
  title: string,
  write: (value: number) => string,
])[] = [
  ['tokens', 'tokens', whole],
  ['costUsd', 'cost', dollars],
  ['steps', 'steps', whole],
  ['durationMs', 'time', lasting],
];

/** Tokens, cost, steps and time of both sides, over the runs in which both have them. */
export function usageSection({ usage }: Comparison): Section {
  const heads: Column[] = [
    { title: 'per run' },
    { title: 'cases', isNumber: true },
    { title: 'baseline', isNumber: true },
    { title: 'candidate', isNumber: true },
    { title: 'difference', isNumber: true },
    { title: '95 % interval', isNumber: true },
    { title: 'total baseline', isNumber: true },
    { title: 'total candidate', isNumber: true },
  ];
  const rows = QUANTITIES.map(([name, title, write]) => deltaRow(title, usage[name], write));
  return { title: 'Cost, tokens and time', blocks: [{ kind: 'table', heads, rows, more: 0 }] };
}

function deltaRow(title: string, delta: Delta, write: (value: number) => string): Text[] {
  const number = (value: number | null): Text => [value === null ? NOTHING : write(value)];
  const change = (value: number): string => withSign(value, write);
  const { n, baseline, candidate, difference, low, high, baselineTotal, candidateTotal } = delta;
  return [
    [title],
    [String(n)],
    number(baseline),
    number(candidate),
    [difference === null ? NOTHING : change(difference)],
    [interval(low, high, (value) => (value === null ? NOTHING : change(value)))],
    number(baselineTotal),
    number(candidateTotal),
  ];
}

export function graderSection({ graders, graderCount }: Comparison, most: number): Section {
  const { shown, more } = bounded(graders, most, graderCount);
  const heads: Column[] = [
    { title: 'grader' },
    { title: 'baseline', isNumber: true },
    { title: 'candidate', isNumber: true },
    { title: 'regressed', isNumber: true },
    { title: 'fixed', isNumber: true },
  ];
  const rows = shown.map(({ grader, kind, baseline, candidate, regressed, fixed }) => [
    [quoted(grader), grader === kind ? '' : ` (${kind})`],
    [rateText(baseline)],
    [rateText(candidate)],
    [String(regressed)],
    [String(fixed)],
  ]);
  return { title: 'Graders', blocks: [{ kind: 'table', heads, rows, more }] };
}

/** What the harness does once, what it does every time, and on which cases it does not do the same each time. */
export function trialSection(report: TrialReport, most: number): Section {
  const { passAt1, passHatK, cases, incomplete, trials, flaky, flakyCount } = report;
  const row = (
    title: string,
    { rate, low, high }: { rate: number | null; low: number | null; high: number | null },
  ): Text[] => [[title], [percent(rate)], [interval(low, high)]];
  const heads = [{ title: '' }, { title: 'rate', isNumber: true }, { title: '95 % interval', isNumber: true }];
  const powers = bounded(passHatK.slice(1), most);
  const rows = [row('pass@1', passAt1), ...powers.shown.map((power) => row(`pass^${power.k}`, power))];
  const left = incomplete > 0 ? `; ${counted(incomplete, 'case')} left out, as a trial of theirs has no verdict` : '';
  const { shown, more } = bounded(flaky, most, flakyCount);
  const names = shown.map(
    ({ caseId, passed, failed }): Text => [quoted(caseId), `: ${passed} passed, ${failed} failed`],
  );
  const flakyText = flakyCount === 0 ? 'No case is flaky: every trial of it ended alike.' : `Flaky (${flakyCount}):`;
  const blocks: Block[] = [
    { kind: 'text', text: [`${counted(cases, 'case')} with ${counted(trials, 'trial')} each${left}.`] },
    { kind: 'table', heads, rows, more: powers.more },
    { kind: 'text', text: [flakyText] },
  ];
  if (names.length > 0) blocks.push({ kind: 'list', items: names, more });
  return { title: 'Trials and flaky cases', blocks };
}
