import { fieldPath } from '../../contracts/field-path.js';
import type { GateRules } from '../../contracts/gate.js';
import type { EarlyCase } from './early-case.js';
import { evidenceOfAtMost, evidenceOfMore, type Sample } from './evidence.js';

/** A rule that allows so many of its cases to be at fault. */
export interface Criterion {
  /** As a path in the policy. */
  rule: string;
  /** Cases that can be at fault; there are `size` of them. */
  includes(evalCase: EarlyCase): boolean;
  /** Whether one that failed is, or only may be: of a regression, nobody may know whether it passed in the baseline. */
  isSurelyAtFault(evalCase: EarlyCase): boolean;
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

/** The fewest of `size` whose share is at least `share`. */
function fewest(size: number, share: number): number {
  const rounded = Math.floor(size * share);
  return rounded > 0 && rounded / size >= share ? rounded : Math.ceil(size * share);
}

type Membership = Pick<Criterion, 'rule' | 'includes' | 'isSurelyAtFault'>;

/** The rules that count cases, over the cases of a whole scorecard. */
export function criteriaOf(rules: GateRules, cases: readonly EarlyCase[]): Criterion[] {
  const bounded = (membership: Membership, mostOf: (size: number) => number): Criterion => {
    const size = cases.filter(membership.includes).length;
    return { ...membership, size, most: mostOf(size) };
  };
  const scopes = [
    { path: '', rule: rules, includes: () => true },
    ...Object.entries(rules.perTag ?? {}).map(([tag, rule]) => ({
      path: `${fieldPath(['perTag', tag])}.`,
      rule,
      includes: ({ tags }: EarlyCase) => tags.includes(tag),
    })),
  ];
  return scopes.flatMap(({ path, rule: { minPassRate, maxRegressions }, includes }) => {
    const passRate = { rule: `${path}minPassRate`, includes, isSurelyAtFault: () => true };
    const regressions: Membership = {
      rule: `${path}maxRegressions`,
      includes: (each) => includes(each) && (each.before === 'passed' || each.before === 'unknown'),
      isSurelyAtFault: ({ before }) => before === 'passed',
    };
    return [
      ...(minPassRate === undefined ? [] : [bounded(passRate, (size) => size - fewest(size, minPassRate))]),
      ...(maxRegressions === undefined ? [] : [bounded(regressions, () => maxRegressions)]),
    ];
  });
}

/**
 * Certain by all that is known, in whatever order it came. Likely by the longest beginning of the order that is known: that
 * is a random sample, where what ended first would be one of fast cases.
 */
export function standingOf(criterion: Criterion, cases: readonly EarlyCase[]): Standing {
  const { size, most, includes, isSurelyAtFault } = criterion;
  const members = cases.filter(includes);
  const open = members.findIndex(({ known }) => known === undefined);
  const begun = open < 0 ? members : members.slice(0, open);
  const atFault = (each: EarlyCase): boolean => each.known === 'failed' && isSurelyAtFault(each);
  const mayBeAtFault = ({ known }: EarlyCase): boolean => known === 'failed' || known === 'unknown';
  const count = (among: readonly EarlyCase[], counts: (each: EarlyCase) => boolean): number =>
    among.filter(counts).length;
  const sample = (counts: (each: EarlyCase) => boolean): Sample => ({
    size,
    seen: begun.length,
    bad: count(begun, counts),
  });
  const failed = count(members, atFault);
  const passed = count(members, ({ known }) => known === 'passed');
  return {
    criterion,
    failed,
    known: count(members, ({ known }) => known !== undefined),
    evidence: {
      violated: failed > most ? Number.POSITIVE_INFINITY : evidenceOfMore(sample(atFault), most),
      held: passed >= size - most ? Number.POSITIVE_INFINITY : evidenceOfAtMost(sample(mayBeAtFault), most),
    },
  };
}
