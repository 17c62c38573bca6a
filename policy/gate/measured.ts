import type { GateRules } from '../../contracts/gate.js';
import type { ExpectedCase } from './expected-cases.js';
import { type Finding, idsOf, named, percent, reasonOf } from './finding.js';

/** How much of what was expected was measured. */
export interface Coverage {
  /** Cases that were expected, those that nobody can name too. */
  expected: number;
  covered: number;
  missing: number;
  infraErrored: number;
}

/** `unnamed`: cases that the candidate was submitted with, and that are not among the given. */
export function coverageOf(cases: readonly ExpectedCase[], unnamed = 0): Coverage {
  const count = (is: (each: ExpectedCase) => boolean): number => cases.filter(is).length;
  return {
    expected: cases.length + unnamed,
    covered: count(({ isMeasured }) => isMeasured),
    missing: count(({ now }) => now === 'missing') + unnamed,
    infraErrored: count((each) => each.isInfraErrored),
  };
}

/**
 * What keeps the cases from being judged. Shares hold for the baseline's cases, too, so that more cases cannot make up
 * for those that are not there.
 */
export function measurementFindings(rules: GateRules, cases: readonly ExpectedCase[], unnamed: number): Finding[] {
  const all = coverageOf(cases, unnamed);
  if (all.expected === 0) return [nothing('there is no case to judge')];
  if (all.expected === all.missing) return [nothing(`none of ${all.expected} cases ran to its end`)];
  const ofBaseline = coverageOf(cases.filter(({ before }) => before !== undefined));
  const groups = [all, ofBaseline].filter(({ expected }) => expected > 0);
  const covered = coverageFinding(rules.minCoverage, cases, groups, unnamed);
  const infra = infraFinding(rules.maxInfraShare, cases, groups);
  return [covered, infra].filter((finding) => finding !== undefined);
}

const nothing = (message: string): Finding => ({
  verdict: 'blocked_missing',
  reason: reasonOf({ code: 'NO_CASES', message: `${message}, and nothing is never a pass` }),
  open: [],
});

/** Of the groups, the one where a share is least. */
const least = (groups: readonly Coverage[], share: (group: Coverage) => number): Coverage =>
  groups.reduce((low, each) => (share(each) < share(low) ? each : low));

const coveredShare = ({ covered, expected }: Coverage): number => covered / expected;
const presentShare = ({ missing, expected }: Coverage): number => (expected - missing) / expected;
const infraShare = ({ infraErrored, expected }: Coverage): number => infraErrored / expected;

/** What is missing cannot be made up for; what is unknown can be run again. */
function coverageFinding(
  minCoverage: number,
  cases: readonly ExpectedCase[],
  groups: readonly Coverage[],
  unnamed: number,
): Finding | undefined {
  const present = least(groups, presentShare);
  const isMissing = unnamed > 0 || presentShare(present) < minCoverage;
  const group = isMissing ? present : least(groups, coveredShare);
  const { covered, expected } = group;
  const isAnyCovered = groups.some((each) => each.covered > 0);
  if (!isMissing && coveredShare(group) >= minCoverage && isAnyCovered) return undefined;
  const atFault = cases.filter(({ now, isMeasured }) =>
    isMissing ? now === 'missing' : !isMeasured && now !== 'missing',
  );
  const why = isMissing ? 'are missing' : 'have no verdict';
  const noNames = unnamed > 0 ? `, and ${unnamed} more that were submitted` : '';
  const message = `${covered} of ${expected} expected cases were measured (${percent(covered / expected)}), and \`minCoverage\` is ${percent(minCoverage)}; these ${why}: ${named(idsOf(atFault))}${noNames}`;
  const ground = { code: 'COVERAGE_BELOW_MINIMUM', message, rule: 'minCoverage', limit: minCoverage } as const;
  return {
    verdict: isMissing ? 'blocked_missing' : 'inconclusive',
    reason: reasonOf({ ...ground, actual: covered / expected, caseIds: idsOf(atFault) }),
    open: isMissing ? [] : atFault,
  };
}

function infraFinding(
  maxInfraShare: number,
  cases: readonly ExpectedCase[],
  groups: readonly Coverage[],
): Finding | undefined {
  const group = least(groups, (each) => -infraShare(each));
  const actual = infraShare(group);
  if (actual <= maxInfraShare) return undefined;
  const open = cases.filter(({ isInfraErrored }) => isInfraErrored);
  const message = `infrastructure left ${group.infraErrored} of ${group.expected} expected cases without a verdict (${percent(actual)}), and \`maxInfraShare\` is ${percent(maxInfraShare)}: ${named(idsOf(open))}`;
  const ground = { code: 'INFRA_SHARE_ABOVE_MAXIMUM', message, rule: 'maxInfraShare', limit: maxInfraShare } as const;
  return { verdict: 'inconclusive', reason: reasonOf({ ...ground, actual, caseIds: idsOf(open) }), open };
}
