import type { Rates } from '../contracts/scorecard-numbers.js';
import type { ScorecardReportData } from './data.js';

type Property = [name: string, value: string];

/** The numbers of a report as names and values, for formats that have room for nothing else. */
export function propertiesOf({ scorecard, gate, comparison, trials, remark }: ScorecardReportData): Property[] {
  const { id, harness, runtime, rates, rerolls, metadata } = scorecard;
  const properties: Property[] = [
    ['scorecard', id],
    ['harness', harness],
    ['runtime', runtime ?? ''],
    ...Object.entries(metadata).map(([name, value]): Property => [`metadata.${name}`, value]),
    ...rateProperties('', rates),
  ];
  if (remark !== undefined) properties.push(['verdict', 'cannot tell'], ['verdict.reason.1', remark]);
  if (gate) {
    const { wouldDecide } = gate.evidence;
    properties.push(['verdict', gate.effective], ['verdict.rules', gate.verdict], ['gate', gate.id]);
    for (const [at, reason] of gate.reasons.entries()) {
      properties.push([`verdict.reason.${at + 1}`, `${reason.code}: ${reason.message}`]);
    }
    if (gate.override) properties.push(['verdict.overriddenBy', `${gate.override.by}: ${gate.override.reason}`]);
    if (wouldDecide) properties.push(['verdict.wouldDecide', wouldDecide.message]);
  }
  for (const [at, reroll] of rerolls.entries()) {
    const name = `before.${at + 1}.`;
    properties.push([`${name}scorecard`, reroll.scorecard], [`${name}retried`, String(reroll.retried)]);
    properties.push([`${name}decidedAgain`, String(reroll.decidedAgain)], ...rateProperties(name, reroll.rates));
  }
  if (comparison) properties.push(...comparisonProperties(comparison));
  if (trials) {
    properties.push(['passAt1', String(trials.passAt1.rate ?? '')], ['flaky', String(trials.flakyCount)]);
    for (const [at, { caseId, passed, failed }] of trials.flaky.entries()) {
      properties.push([`flaky.${at + 1}`, `${caseId}: ${passed} passed, ${failed} failed`]);
    }
  }
  return properties;
}

const rateProperties = (prefix: string, rates: Rates): Property[] =>
  Object.entries(rates).flatMap(([name, { n, passed, rate, low, high }]): Property[] => [
    [`${prefix}rate.${name}`, String(rate ?? '')],
    [`${prefix}rate.${name}.passed`, String(passed)],
    [`${prefix}rate.${name}.n`, String(n)],
    [`${prefix}rate.${name}.low`, String(low ?? '')],
    [`${prefix}rate.${name}.high`, String(high ?? '')],
  ]);

function comparisonProperties({
  baseline,
  basis,
  counts,
  usage,
  test,
}: NonNullable<ScorecardReportData['comparison']>) {
  const properties: Property[] = [
    ['baseline', baseline.id],
    ['compared', basis],
    ...rateProperties('baseline.', baseline.rates),
    ...Object.entries(counts).map(([name, count]): Property => [`transition.${name}`, String(count)]),
    ['pValue', String(test.pValue)],
  ];
  for (const [name, { difference }] of Object.entries(usage)) {
    if (difference !== null) properties.push([`delta.${name}`, String(difference)]);
  }
  return properties;
}
