import type { GateRules } from '../../contracts/gate.js';
import type { EarlyCase, Known } from './early-case.js';
import { evidenceOfAtMost, evidenceOfMore, type Sample } from './evidence.js';

/** A rule that allows so many of its cases not to pass. */
export interface Criterion {
  /** As a path in the policy. */
  rule: string;
  includes(evalCase: EarlyCase): boolean;
  /** Of `size` cases, so many may fail. */
  size: number;
  most: number;
}

/** How a criterion stands. */
export interface Standing {
  criterion: Criterion;
  failed: number;
  known: number;
  /** For there being more than it allows, and for there being no more: see `evidenceOfAtMost`. */
  evidence: { violated: number; held: number };
}

type Members = Pick<Criterion, 'rule' | 'includes'>;

/** The fewest of `size` whose share is at least `share`. */
function fewest(size: number, share: number): number {
  const rounded = Math.floor(size * share);
  return rounded > 0 && rounded / size >= share ? rounded : Math.ceil(size * share);
}

/** The rules that count cases, over the cases of a whole scorecard. */
export function criteriaOf(rules: GateRules, cases: readonly EarlyCase[]): Criterion[] {
  const sizeOf = ({ includes }: Members): number => cases.filter(includes).length;
  const ofRate = (members: Members, share: number): Criterion => {
    const size = sizeOf(members);
    return { ...members, size, most: size - fewest(size, share) };
  };
  const ofRegressions = ({ rule, includes }: Members, most: number): Criterion => {
    const members = { rule, includes: (evalCase: EarlyCase) => evalCase.passedBefore && includes(evalCase) };
    return { ...members, size: sizeOf(members), most };
  };
  const scopes = [
    { path: '', rule: rules, includes: () => true },
    ...Object.entries(rules.perTag ?? {}).map(([tag, rule]) => ({
      path: `perTag.${tag}.`,
      rule,
      includes: ({ tags }: EarlyCase) => tags.includes(tag),
    })),
  ];
  return scopes.flatMap(({ path, rule: { minPassRate, maxRegressions }, includes }) => [
    ...(minPassRate === undefined ? [] : [ofRate({ rule: `${path}minPassRate`, includes }, minPassRate)]),
    ...(maxRegressions === undefined
      ? []
      : [ofRegressions({ rule: `${path}maxRegressions`, includes }, maxRegressions)]),
  ]);
}

/**
 * Certain by all that is known, in whatever order it came. Likely by the longest beginning of the order that is known: that
 * is a random sample, where what ended first would be one of fast cases.
 */
export function standingOf(criterion: Criterion, cases: readonly EarlyCase[]): Standing {
  const { size, most, includes } = criterion;
  const members = cases.filter(includes);
  const open = members.findIndex(({ known }) => known === undefined);
  const begun = open < 0 ? members : members.slice(0, open);
  const count = (among: readonly EarlyCase[], ...kinds: Known[]): number =>
    among.filter(({ known }) => known !== undefined && kinds.includes(known)).length;
  const sample = (bad: number): Sample => ({ size, seen: begun.length, bad });
  const failed = count(members, 'failed');
  return {
    criterion,
    failed,
    known: count(members, 'passed', 'failed', 'unknown'),
    evidence: {
      violated: failed > most ? Number.POSITIVE_INFINITY : evidenceOfMore(sample(count(begun, 'failed')), most),
      held:
        count(members, 'passed') >= size - most
          ? Number.POSITIVE_INFINITY
          : evidenceOfAtMost(sample(count(begun, 'failed', 'unknown')), most),
    },
  };
}
