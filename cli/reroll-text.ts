import type { Reroll } from '../contracts/reroll.js';
import { plain, table } from './text.js';
import type { ScorecardReply } from './wire.js';

const share = ({ passed, n, rate }: ScorecardReply['rates']['final']): string =>
  rate === null ? `${passed}/${n}` : `${passed}/${n} ${(rate * 100).toFixed(1)} %`;

const ratesText = ({ rates }: Pick<ScorecardReply, 'rates'>): string[] =>
  [rates.firstAttempt, rates.final, rates.infraExcluded].map(share);

/** What was left behind, and by whom; a failure that was rolled again is said. */
function leftText({ retried, decidedAgain, classes, by }: Omit<Reroll, 'counts' | 'rates'>): string {
  const failures = decidedAgain > 0 ? `, ${decidedAgain} of them counted as failed` : '';
  return plain(`${retried} ${classes.join(', ')}${failures}${by === null ? '' : ` (${by})`}`);
}

/** The numbers before each retry and after the last, side by side; nothing where none was run again. */
export function rerollTable(
  { id, rates, rerolls }: Pick<ScorecardReply, 'id' | 'rates' | 'rerolls'>,
  columns: number,
): string {
  if (rerolls.length === 0) return '';
  const heads = [
    { title: 'before and after' },
    { title: 'first attempt', align: 'right' },
    { title: 'final', align: 'right' },
    { title: 'infra excluded', align: 'right' },
    { title: 'then run again' },
  ] as const;
  const before = rerolls.map((reroll) => [reroll.scorecard, ...ratesText(reroll), leftText(reroll)]);
  return `\n${table(heads, [...before, [id, ...ratesText({ rates }), '']], columns)}`;
}
