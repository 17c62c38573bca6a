import type { Incomparable } from '../../contracts/comparison.js';
import type { StoppedEarly } from '../../contracts/early-stop.js';
import type { GateEvidence, GateReason, GateReasonCode, GateRules, GateVerdict } from '../../contracts/gate.js';
import { testOf } from '../comparison/measures.js';
import { isWhole, pairsOf } from '../comparison/pairs.js';
import type { Side } from '../comparison/side.js';
import { wilson } from '../rates.js';
import { hasRegressed, passes } from './completion.js';
import { type ExpectedCase, expectedCases } from './expected-cases.js';
import { type Finding, idsOf, MOST_LISTED, plural, reasonOf } from './finding.js';
import { coverageOf, measurementFindings } from './measured.js';
import { ruleFindings } from './rules.js';
import { type Judged, judgedSides } from './sides.js';
import { wouldDecide } from './would-decide.js';

export interface Question {
  rules: GateRules;
  candidate: Side;
  /** Absent: no rule may need one. */
  baseline?: Side;
  on: GateEvidence['basis'];
}

export interface Judgement {
  verdict: GateVerdict;
  reasons: GateReason[];
  evidence: GateEvidence;
}

/** What comes first outweighs what follows. */
const WORST_FIRST: readonly GateVerdict[] = ['not_comparable', 'blocked_missing', 'block', 'inconclusive', 'pass'];

/**
 * The verdict over a candidate. The order:
 * 1. `not_comparable`: it differs from the baseline in more than its results,
 * 2. `blocked_missing`: cases are absent, cancelled or not finished that should be there,
 * 3. `block`: a rule is violated however the unknown cases turn out,
 * 4. `inconclusive`: they decide it,
 * 5. `pass`: every rule holds however they turn out.
 */
export function judge({ rules, candidate, baseline, on }: Question): Judgement {
  const judged = judgedSides(candidate, baseline, on);
  if (isIncomparable(judged)) return incomparableSides(judged, baseline);
  const needed = rules.minTrialsPassed;
  const trials = { ...judged.trials, ...(needed !== undefined && { needed }) };
  const cases = expectedCases(judged.candidate, judged.baseline, trials);
  const unnamed = unnamedCases(judged, cases.length);
  const findings = [
    ...measurementFindings(rules, cases, unnamed),
    ...(cases.length > 0 ? ruleFindings(rules, cases) : []),
    ...rerollFindings(rules, candidate),
  ];
  const verdict = WORST_FIRST.find((one) => findings.some((finding) => finding.verdict === one)) ?? 'pass';
  const asked = {
    candidate: candidate.scorecard.id,
    ...(baseline && { baseline: baseline.scorecard.id }),
    trials: trials.candidate,
    needed: needed ?? trials.candidate,
  };
  return {
    verdict,
    reasons: findings.length > 0 ? inOrder(findings) : [allHold(judged, cases, unnamed)],
    evidence: {
      ...evidenceOf(judged, cases, unnamed),
      wouldDecide: verdict === 'inconclusive' ? wouldDecide(findings, asked) : null,
    },
  };
}

/** A scorecard that a gate has ended keeps that verdict: its other cases were cancelled for it. */
export function repeated(judgement: Judgement, { verdict, seen, total, reason }: StoppedEarly): Judgement {
  const message = `it was stopped early for this verdict: ${reason}`;
  return {
    verdict,
    reasons: [reasonOf({ code: 'STOPPED_EARLY', message, actual: seen, limit: total })],
    evidence: { ...judgement.evidence, wouldDecide: null },
  };
}

/** Cases that the candidate was submitted with, and that neither side has. */
function unnamedCases({ candidate, basis }: Judged, named: number): number {
  const { counts, trials } = candidate.scorecard;
  return basis === 'all' ? Math.max(0, Math.ceil(counts.submitted / trials) - named) : 0;
}

const DIFFERS: Record<Incomparable['what'], GateReasonCode> = {
  dataset: 'DATASET_DIFFERS',
  cases: 'CASES_DIFFER',
  graders: 'GRADERS_DIFFER',
  trials: 'TRIALS_DIFFER',
};

/** Also where nothing is left that is the same. */
const isIncomparable = ({ candidate, differs, basis }: Judged): boolean =>
  differs.length > 0 && (basis === 'all' || candidate.results.length === 0);

/** Of the baseline, nothing counts. */
function incomparableSides({ candidate, trials, differs, basis }: Judged, baseline: Side | undefined): Judgement {
  const alone = { candidate, trials, differs, basis };
  const cases = expectedCases(candidate, undefined, trials);
  const evidence = evidenceOf(alone, cases, 0);
  return {
    verdict: 'not_comparable',
    reasons: differs.map(({ what, message, cases: ids, count }) => ({
      ...reasonOf({ code: DIFFERS[what], message }),
      ...{ cases: ids, count },
    })),
    evidence: { ...evidence, baseline: baseline?.scorecard ?? null, wouldDecide: null },
  };
}

/** Who may run results again until they suit has no verdict. */
function rerollFindings({ rerolls }: GateRules, { scorecard }: Side): Finding[] {
  const again = scorecard.rerolls.reduce((sum, { decidedAgain }) => sum + decidedAgain, 0);
  if (rerolls === 'any' || again === 0) return [];
  const message = `${plural(again, 'run')} that counted as failed ${again === 1 ? 'was' : 'were'} run again, and \`rerolls\` is infra`;
  const reason = reasonOf({ code: 'VERDICTS_REROLLED', message, rule: 'rerolls', limit: 0, actual: again });
  return [{ verdict: 'block', reason, open: [] }];
}

const inOrder = (findings: readonly Finding[]): GateReason[] =>
  findings
    .toSorted((a, b) => WORST_FIRST.indexOf(a.verdict) - WORST_FIRST.indexOf(b.verdict))
    .map(({ reason }) => reason);

/** Without a baseline, nobody said which cases of the dataset should be there: that only some are is told. */
function allHold({ candidate, baseline }: Judged, cases: readonly ExpectedCase[], unnamed: number): GateReason {
  const { expected, covered } = coverageOf(cases, unnamed);
  const passed = cases.filter((each) => passes(each, 'worst')).length;
  const { datasetCases } = candidate.scorecard;
  const isPart = baseline === undefined && expected < datasetCases;
  const partly = isPart ? `; its dataset has ${plural(datasetCases, 'case')}, and no baseline asks for the others` : '';
  const message = `every rule holds: ${passed} of ${plural(expected, 'case')} passed, ${covered} ${covered === 1 ? 'was' : 'were'} measured${partly}`;
  return reasonOf({ code: 'ALL_RULES_HOLD', message });
}

function evidenceOf(
  { candidate, baseline, differs, basis }: Judged,
  cases: readonly ExpectedCase[],
  unnamed: number,
): Omit<GateEvidence, 'wouldDecide'> {
  const coverage = coverageOf(cases, unnamed);
  const regressions = idsOf(cases.filter((each) => hasRegressed(each, 'best')));
  return {
    ...coverage,
    passRate: wilson(cases.filter((each) => passes(each, 'worst')).length, coverage.expected),
    regressions: regressions.slice(0, MOST_LISTED),
    regressionCount: regressions.length,
    candidate: candidate.scorecard,
    baseline: baseline?.scorecard ?? null,
    differs: [...differs],
    basis,
    test: baseline ? testOf(pairsOf({ baseline, candidate }).filter(isWhole)) : null,
  };
}
