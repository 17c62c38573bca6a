import type { GateReason, GateResult, GateVerdict, WouldDecide } from '../contracts/gate.js';
import { type Block, bounded, quoted, type Section, type Text } from './blocks.js';
import type { ReportedScorecard } from './data.js';
import { counted, interval, NOTHING, percent, points, rateText } from './numbers.js';

const TITLES: Record<GateVerdict, string> = {
  pass: 'pass',
  block: 'block',
  blocked_missing: 'blocked: results are missing',
  not_comparable: 'not comparable',
  inconclusive: 'inconclusive',
};

export const verdictTitle = ({ effective, override }: GateResult): string =>
  override ? `${TITLES[effective]} (overridden)` : TITLES[effective];

/** Verdict, its grounds, and what would decide it. */
export function verdictSection(gate: GateResult, most: number): Section {
  const { override, evidence, verdict, policy } = gate;
  const blocks: Block[] = [];
  if (override) {
    const { by, reason } = override;
    blocks.push(text(`The rules say ${TITLES[verdict]}; overridden by `, quoted(by), ': ', quoted(reason)));
  }
  blocks.push(reasonTable(gate.reasons, most));
  if (evidence.wouldDecide) blocks.push(...wouldDecide(evidence.wouldDecide, most));
  blocks.push({ kind: 'list', more: 0, items: evidenceLines(gate) });
  const name = policy.ref === null ? ['Policy given with the call.'] : ['Policy ', quoted(policy.ref), '.'];
  blocks.push({ kind: 'text', text: [...name, ' Gate ', quoted(gate.id), '.'] });
  return { title: `Verdict: ${verdictTitle(gate)}`, blocks };
}

const text = (...pieces: Text): Block => ({ kind: 'text', text: pieces });

function reasonTable(reasons: readonly GateReason[], most: number): Block {
  const { shown, more } = bounded(reasons, most);
  const heads = [
    { title: 'reason' },
    { title: 'rule' },
    { title: 'limit', isNumber: true },
    { title: 'actual', isNumber: true },
    { title: 'cases' },
  ];
  const rows = shown.map((reason) => [
    [reason.message],
    reason.rule === null ? [NOTHING] : [quoted(reason.rule)],
    [ruleNumber(reason.rule, reason.limit)],
    [ruleNumber(reason.rule, reason.actual)],
    caseNames(reason.cases, reason.count),
  ]);
  return { kind: 'table', heads, rows, more };
}

/** Rates, shares and coverage are shares of 1; everything else is counted. */
const ruleNumber = (rule: string | null, value: number | null): string => {
  if (value === null) return NOTHING;
  return rule !== null && /rate|share|coverage/i.test(rule.split('.').at(-1) ?? '') ? percent(value) : String(value);
};

/** Names in a cell: the first few, and how many more. */
const NAMED = 5;

function caseNames(cases: readonly string[], count: number): Text {
  const { shown, more } = bounded(cases, NAMED, count);
  const names = shown.flatMap((name, at) => (at > 0 ? [', ', quoted(name)] : [quoted(name)]));
  return more > 0 && names.length > 0 ? [...names, ` and ${more} more`] : names;
}

function wouldDecide({ message, rerun, rerunCount, moreTrials }: WouldDecide, most: number): Block[] {
  const blocks: Block[] = [text(`What would decide it: ${message}`)];
  const { shown, more } = bounded(rerun, Math.min(most, 20), rerunCount);
  if (shown.length > 0) blocks.push({ kind: 'list', items: shown.map((run) => ['run again: ', quoted(run)]), more });
  if (moreTrials > 0) blocks.push(text(`${counted(moreTrials, 'more trial')} of each undecided case.`));
  return blocks;
}

function evidenceLines({ evidence }: GateResult): Text[] {
  const { expected, covered, missing, infraErrored, passRate, regressionCount, test, baseline, basis } = evidence;
  const lines: Text[] = [
    [
      `${covered} of ${counted(expected, 'expected case')} have a verdict, ${missing} missing, ${infraErrored} errored by infrastructure`,
    ],
    [`pass rate of cases: ${rateText(passRate)}`],
  ];
  if (!baseline) return [...lines, ['no baseline: regressions were not looked for']];
  lines.push([`${counted(regressionCount, 'regression')} against `, quoted(baseline.id)]);
  if (test?.difference !== null && test !== null) {
    lines.push([
      `difference of the pass rates: ${points(test.difference)} (${interval(test.low, test.high, points)}), p = ${test.pValue.toPrecision(3)}`,
    ]);
  }
  if (basis === 'intersection') lines.push(['only cases that are the same on both sides were compared']);
  return lines;
}

/** For a scorecard that nothing was asked about: how it ended. */
export function outcomeTitle({ status, counts }: ReportedScorecard): string {
  const { submitted, passed, failed, errored, cancelled } = counts;
  if (status !== 'completed' && status !== 'cancelled')
    return `${status}: ${counts.settled} of ${submitted} runs ended`;
  if (submitted === 0) return 'nothing ran';
  const parts = { passed, failed, errored, cancelled };
  const said = Object.entries(parts).filter(([, count]) => count > 0);
  return `${status}: ${said.map(([name, count]) => `${count} ${name}`).join(', ')}`;
}
