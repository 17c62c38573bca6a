import type { Reroll } from '../contracts/reroll.js';
import type { Rate, Rates } from '../contracts/scorecard-numbers.js';
import { type Block, type Column, quoted, type Section, type Text } from './blocks.js';
import type { ReportedScorecard } from './data.js';
import { counted, interval, NOTHING, percent, rateText } from './numbers.js';

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

/** The numbers as they stood before each time that results were run again, beside those of now. */
export function rerollSection({ id, rerolls, counts, rates }: ReportedScorecard): Section {
  const heads: Column[] = [
    { title: 'scorecard' },
    ...RATES.map(([title]) => ({ title, isNumber: true })),
    { title: 'passed', isNumber: true },
    { title: 'failed', isNumber: true },
    { title: 'errored', isNumber: true },
    { title: 'then run again' },
  ];
  const row = (name: string, { counts, rates }: Pick<Reroll, 'counts' | 'rates'>, then: Text): Text[] => [
    [quoted(name)],
    ...RATES.map(([, rate]) => [rateText(rates[rate])]),
    [String(counts.passed)],
    [String(counts.failed)],
    [String(counts.errored)],
    then,
  ];
  const rows = rerolls.map((reroll) => row(reroll.scorecard, reroll, againText(reroll)));
  rows.push(row(id, { counts, rates }, [NOTHING]));
  const decidedAgain = rerolls.reduce((sum, reroll) => sum + reroll.decidedAgain, 0);
  const warning =
    decidedAgain > 0
      ? `${counted(decidedAgain, 'result')} that had a verdict were run again: the last line is no first answer.`
      : 'Nothing that had a verdict was run again.';
  const blocks: Block[] = [
    { kind: 'table', heads, rows, more: 0 },
    { kind: 'text', text: [warning] },
  ];
  return { title: 'Before and after results were run again', blocks };
}

function againText({ retried, classes, by, at }: Reroll): Text {
  const who: Text = by === null ? [] : [' by ', quoted(by)];
  return [`${counted(retried, 'run')} (${classes.join(', ')})`, ...who, ` at ${at.slice(0, 16)}`];
}
