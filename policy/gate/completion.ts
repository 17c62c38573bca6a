import type { ExpectedCase } from './expected-cases.js';

/**
 * One of the ways in which what is unknown may turn out. Every rule asks for passes, or for few that are none, so two of
 * them bound all others: `best`, where every unknown case passes and none of the baseline did, and `worst`, the other way.
 * A rule that `best` violates is violated whatever happens, and one that `worst` keeps is kept.
 */
export type Completion = 'best' | 'worst';

export const passes = ({ now }: ExpectedCase, completion: Completion): boolean =>
  now === 'passed' || (now === 'unknown' && completion === 'best');

/** A case that was cancelled in the baseline might have passed there, too. */
const passedBefore = ({ before }: ExpectedCase, completion: Completion): boolean =>
  before === 'passed' || (completion === 'worst' && (before === 'unknown' || before === 'missing'));

/** It passed in the baseline and does not now: it failed, or is missing. */
export const hasRegressed = (each: ExpectedCase, completion: Completion): boolean =>
  passedBefore(each, completion) && !passes(each, completion);
