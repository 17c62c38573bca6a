import type { GateReason, GateResult } from '../contracts/gate.js';
import { plain } from './text.js';

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

/** A verdict for people: what it is, by which rules, why, and what would decide it. */
export function gateText(gate: GateResult): string {
  const { id, evidence, policy, reasons, effective } = gate;
  const against = evidence.baseline ? ` against ${evidence.baseline.id}` : '';
  const by = policy.ref === null ? 'rules of its own' : `policy ${policy.ref}`;
  const lines = [
    `${effective}: ${evidence.candidate.id}${against}, by ${by}`,
    ...overrideLines(gate),
    '',
    ...reasons.flatMap(reasonLines),
    '',
    ...evidenceLines(gate),
    ...(evidence.wouldDecide ? ['', `what would decide it: ${evidence.wouldDecide.message}`] : []),
    '',
    `npx everdict gate show ${id} --json   the rules, and every case by name`,
  ];
  return lines.map((line) => `${plain(line)}\n`).join('');
}

/** Cases that a reason lists where its sentence leaves some out. */
const MOST_CASES = 50;

function reasonLines({ code, message, cases, count }: GateReason): string[] {
  const listed = cases.slice(0, MOST_CASES).map((id) => `  ${id}`);
  const more = count > listed.length ? [`  … and ${count - listed.length} more`] : [];
  return [`${code}: ${message}`, ...(count > 5 ? [...listed, ...more] : [])];
}

const overrideLines = ({ verdict, overrides }: GateResult): string[] => {
  if (overrides.length === 0) return [];
  const said = overrides.map((each) => `  ${each.by} said ${each.verdict} at ${each.at}: ${each.reason}`);
  return [`  the rules say ${verdict}`, ...said];
};

function evidenceLines({ evidence }: GateResult): string[] {
  const { expected, covered, missing, infraErrored, passRate, regressionCount, baseline, test, basis } = evidence;
  const { passed, rate, low, high } = passRate;
  const regressed = baseline ? `; ${regressionCount} passed in the baseline and did not now` : '';
  const counted = `${covered} of ${expected} expected cases were measured, ${missing} are missing, ${infraErrored} were left open by infrastructure`;
  return [
    counted,
    `${passed} passed: ${percent(rate)} (95 % interval ${percent(low)} to ${percent(high)})${regressed}`,
    ...(test && test.difference !== null
      ? [
          `paired test over ${test.pairs} cases: ${test.regressed} regressed, ${test.fixed} fixed, p = ${test.pValue.toPrecision(3)}`,
        ]
      : []),
    ...(basis === 'intersection' ? ['only what is the same on both sides was compared'] : []),
  ];
}
