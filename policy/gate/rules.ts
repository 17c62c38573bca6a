import { fieldPath, quoted } from '../../contracts/field-path.js';
import type { GateReasonCode, GateRules } from '../../contracts/gate.js';
import { type Completion, hasRegressed, passes } from './completion.js';
import type { ExpectedCase } from './expected-cases.js';
import { type Finding, idsOf, named, percent, plural, reasonOf } from './finding.js';

/** A rule of a policy, over the cases that it is about. */
interface Rule {
  path: string;
  code: GateReasonCode;
  limit: number;
  cases: readonly ExpectedCase[];
  isAtFault(each: ExpectedCase, completion: Completion): boolean;
  /** Whether so many at fault are too many. */
  isViolatedBy(count: number): boolean;
  /** What is measured, where so many are at fault, and what it says in a sentence. */
  actual(count: number): number;
  says(count: number): string;
  /** What the rule asks for. */
  asks: string;
}

/** Cases that share a rule, and what they are called. */
interface Group {
  cases: readonly ExpectedCase[];
  /** After their number: `cases`, or `cases with the tag "json"`. */
  noun: string;
}

/** What the candidate's cases do not reach, or might not. */
export function ruleFindings(rules: GateRules, cases: readonly ExpectedCase[]): Finding[] {
  const all = { cases, noun: 'cases' };
  const found = boundsOf(rules, all, '', ['PASS_RATE_BELOW_MINIMUM', 'TOO_MANY_REGRESSIONS']).flatMap(findingsOf);
  for (const [tag, bounds] of Object.entries(rules.perTag ?? {})) {
    const path = fieldPath(['perTag', tag]);
    const codes = ['TAG_PASS_RATE_BELOW_MINIMUM', 'TOO_MANY_TAG_REGRESSIONS'] as const;
    found.push(...ofTag(cases, tag, path, (group) => boundsOf(bounds, group, `${path}.`, codes)));
  }
  for (const [at, tag] of (rules.critical?.tags ?? []).entries()) {
    const path = fieldPath(['critical', 'tags', at]);
    found.push(...ofTag(cases, tag, path, (group) => [critical(path, group)]));
  }
  const ids = rules.critical?.cases;
  return ids ? [...found, ...criticalIds(ids, cases)] : found;
}

/** What a rule finds: it is violated whatever happens, or it might be, or nothing. */
function findingsOf(rule: Rule): Finding[] {
  const { path, code, limit, asks } = rule;
  const [best, worst] = (['best', 'worst'] as const).map((completion) =>
    rule.cases.filter((each) => rule.isAtFault(each, completion)),
  ) as [ExpectedCase[], ExpectedCase[]];
  const shared = { rule: path, limit };
  if (rule.isViolatedBy(best.length)) {
    const atBest = best.length < worst.length ? 'at best ' : '';
    const message = `${atBest}${rule.says(best.length)}, and ${asks}: ${named(idsOf(best))}`;
    const actual = rule.actual(best.length);
    return [
      { verdict: 'block', reason: reasonOf({ ...shared, code, message, actual, caseIds: idsOf(best) }), open: [] },
    ];
  }
  if (!rule.isViolatedBy(worst.length)) return [];
  const certain = new Set(best);
  const open = worst.filter((each) => !certain.has(each));
  const ends = `as it stands ${rule.says(worst.length)}, at best ${rule.says(best.length)}`;
  const message = `${ends}, and ${asks}: that depends on ${named(idsOf(open))}`;
  const ground = { ...shared, code: 'UNDECIDED_CASES', message, actual: rule.actual(worst.length) } as const;
  return [{ verdict: 'inconclusive', reason: reasonOf({ ...ground, caseIds: idsOf(open) }), open }];
}

function boundsOf(
  { minPassRate, maxRegressions }: Pick<GateRules, 'minPassRate' | 'maxRegressions'>,
  { cases, noun }: Group,
  prefix: string,
  [rateCode, regressionCode]: readonly [GateReasonCode, GateReasonCode],
): Rule[] {
  const n = cases.length;
  const rules: Rule[] = [];
  if (minPassRate !== undefined) {
    rules.push({
      ...{ path: `${prefix}minPassRate`, code: rateCode, limit: minPassRate, cases },
      isAtFault: (each, completion) => !passes(each, completion),
      isViolatedBy: (count) => (n - count) / n < minPassRate,
      actual: (count) => (n - count) / n,
      says: (count) => `${n - count} of ${n} ${noun} passed (${percent((n - count) / n)})`,
      asks: `\`${prefix}minPassRate\` is ${percent(minPassRate)}`,
    });
  }
  if (maxRegressions !== undefined) {
    rules.push({
      ...{ path: `${prefix}maxRegressions`, code: regressionCode, limit: maxRegressions, cases },
      isAtFault: hasRegressed,
      isViolatedBy: (count) => count > maxRegressions,
      actual: (count) => count,
      says: (count) => `${count} of ${n} ${noun} passed in the baseline and did not now`,
      asks: `\`${prefix}maxRegressions\` is ${maxRegressions}`,
    });
  }
  return rules;
}

const critical = (path: string, { cases, noun }: Group): Rule => ({
  ...{ path, code: 'CRITICAL_CASE_NOT_PASSED', limit: 0, cases },
  isAtFault: (each, completion) => !passes(each, completion),
  isViolatedBy: (count) => count > 0,
  actual: (count) => count,
  says: (count) => `${count} of ${cases.length} ${noun} did not pass`,
  asks: `\`${path}\` asks for all`,
});

/** Nothing is as bad as missing: a rule over no case would hold silently. */
function ofTag(
  cases: readonly ExpectedCase[],
  tag: string,
  path: string,
  rulesOf: (group: Group) => Rule[],
): Finding[] {
  const tagged = cases.filter(({ tags }) => tags.includes(tag));
  if (tagged.length > 0) {
    return rulesOf({ cases: tagged, noun: `cases with the tag ${quoted(tag)}` }).flatMap(findingsOf);
  }
  const message = `no case has the tag ${quoted(tag)}, which \`${path}\` is about: give it to the cases that are meant, or take the rule out of the policy`;
  return [{ verdict: 'blocked_missing', reason: reasonOf({ code: 'NO_CASES', message, rule: path }), open: [] }];
}

function criticalIds(ids: readonly string[], cases: readonly ExpectedCase[]): Finding[] {
  const path = 'critical.cases';
  const asked = new Set(ids);
  const meant = cases.filter(({ caseId }) => asked.has(caseId));
  const known = new Set(idsOf(meant));
  const unknown = [...asked].filter((id) => !known.has(id)).sort();
  const found = meant.length > 0 ? findingsOf(critical(path, { cases: meant, noun: 'critical cases' })) : [];
  if (unknown.length === 0) return found;
  const are = `${plural(unknown.length, 'critical case')} ${unknown.length === 1 ? 'is' : 'are'}`;
  const message = `${are} in neither scorecard: ${named(unknown)}; run them, or take them out of \`${path}\``;
  const reason = reasonOf({ code: 'CRITICAL_CASE_UNKNOWN', message, rule: path, caseIds: unknown });
  return [...found, { verdict: 'blocked_missing', reason, open: [] }];
}
