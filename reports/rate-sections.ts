import type { Reroll } from '../contracts/reroll.js';
import type { Rate, Rates } from '../contracts/scorecard-numbers.js';
import { type Block, type Column, quoted, type Section, type Text } from './blocks.js';
import type { ReportedScorecard } from './data.js';
import { counted, interval, percent, rateText } from './numbers.js';

const RATES: readonly (readonly [title: string, name: keyof Rates])[] = [
  ['first attempt', 'firstAttempt'],
  ['final', 'final'],
  ['infra excluded', 'infraExcluded'],
];

/** The pass rate three ways, each with its n and interval, beside the baseline's where there is one. */
export function rateSection({ rates, counts }: ReportedScorecard, baseline?: Rates): Section {
  const heads: Column[] = [
    { title: 'pass rate' },
    { title: 'passed', isNumber: true },
    { title: 'n', isNumber: true },
    { title: 'rate', isNumber: true },
    { title: '95 % interval', isNumber: true },
    ...(baseline ? [{ title: 'baseline', isNumber: true }] : []),
  ];
  const rows = RATES.map(([title, name]) => [
    [title],
    ...rateCells(rates[name]),
    ...(baseline ? [[rateText(baseline[name])]] : []),
  ]);
  return { title: 'Pass rates', blocks: [{ kind: 'table', heads, rows, more: 0 }, ...rateNotes(counts)] };
}

const rateCells = ({ passed, n, rate, low, high }: Rate): Text[] => [
  [String(passed)],
  [String(n)],
  [percent(rate)],
  [interval(low, high)],
];

function rateNotes({
  submitted,
  settled,
  passed,
  failed,
  errored,
  infraErrors,
  cancelled,
  decided,
}: ReportedScorecard['counts']): Block[] {
  const infra = infraErrors > 0 ? ` (${infraErrors} by infrastructure)` : '';
  const notes = [
    `${passed} passed, ${failed} failed, ${errored} errored${infra}, ${cancelled} cancelled of ${counted(submitted, 'run')}.`,
  ];
  if (settled < submitted) notes.push(`Provisional: ${submitted - settled} of ${submitted} have no outcome yet.`);
  if (decided > 0) notes.push(`In no rate: ${counted(decided, 'run')} decided by an operator.`);
  return [{ kind: 'text', text: [notes.join(' ')] }];
}

/** Of many times that results were run again, the first and the last few. */
const MOST_BEFORE = 4;

/** The numbers as they stood before each time that results were run again, beside those of now. */
export function rerollSection({ id, rerolls, counts, rates }: ReportedScorecard): Section {
  const shown = rerolls.filter((_, at) => at === 0 || at > rerolls.length - MOST_BEFORE);
  const stands = [...shown, { scorecard: id, counts, rates }];
  const heads = ['', ...stands.map(({ scorecard }) => (scorecard === id ? `now: ${id}` : `before: ${scorecard}`))];
  const rows: Text[][] = [
    ...RATES.map(([title, name]) => [[title], ...stands.map((stand): Text => [rateText(stand.rates[name])])]),
    ...COUNTS.map((name) => [[name], ...stands.map((stand): Text => [String(stand.counts[name])])]),
  ];
  const decidedAgain = rerolls.reduce((sum, reroll) => sum + reroll.decidedAgain, 0);
  const warning =
    decidedAgain > 0
      ? `${counted(decidedAgain, 'result that counted as failed was', 'results that counted as failed were')} run again: what stands now is no first answer.`
      : 'Nothing that counted as failed was run again.';
  const columns = heads.map((title, at) => ({ title, isNumber: at > 0 }));
  const blocks: Block[] = [
    { kind: 'table', heads: columns, rows, more: 0 },
    { kind: 'list', items: shown.map(againText), more: rerolls.length - shown.length },
    { kind: 'text', text: [warning] },
  ];
  return { title: 'Before and after results were run again', blocks };
}

const COUNTS = ['passed', 'failed', 'errored', 'cancelled'] as const;

function againText({ scorecard, retried, classes, by, at }: Reroll): Text {
  const who: Text = by === null ? [] : [' by ', quoted(by)];
  return [
    'of ',
    quoted(scorecard),
    ` ${counted(retried, 'run')} again (${classes.join(', ')})`,
    ...who,
    ` at ${at.slice(0, 16)}`,
  ];
}
