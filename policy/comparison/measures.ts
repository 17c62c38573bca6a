import type { Comparison, Delta, GraderChange, PairedTest } from '../../contracts/comparison.js';
import { type CaseResult, passedOf } from '../case-result.js';
import { wilson } from '../rates.js';
import { mcnemar } from './mcnemar.js';
import { meanDifference } from './mean-difference.js';
import { pairedDifference } from './paired-difference.js';
import { byCase, type WholePair } from './pairs.js';
import type { Sides } from './side.js';

/** Whether every trial passed on that side; undefined where that of one is not known. */
function allPassed(trials: readonly WholePair[], side: keyof WholePair): boolean | undefined {
  const passed = trials.map((pair) => passedOf(pair[side]));
  return passed.includes(undefined) ? undefined : passed.every(Boolean);
}

/** The paired test over cases: one with several trials passes if all of them do. */
export function testOf(pairs: readonly WholePair[]): PairedTest {
  let [known, regressed, fixed] = [0, 0, 0];
  for (const trials of byCase(pairs)) {
    const [before, after] = [allPassed(trials, 'baseline'), allPassed(trials, 'candidate')];
    if (before === undefined || after === undefined) continue;
    known += 1;
    if (before && !after) regressed += 1;
    if (!before && after) fixed += 1;
  }
  const difference = pairedDifference(regressed, fixed, known);
  return { pairs: known, regressed, fixed, pValue: mcnemar(regressed, fixed), ...difference };
}

type Measure = (result: CaseResult) => number | undefined;

function totalOf(results: readonly CaseResult[], measure: Measure): number | null {
  let total: number | null = null;
  for (const result of results) {
    const value = measure(result);
    if (value !== undefined) total = (total ?? 0) + value;
  }
  return total;
}

/** Means over the trials that have the quantity on both sides. */
function meansOf(trials: readonly WholePair[], measure: Measure): { before: number; after: number } | undefined {
  let [n, before, after] = [0, 0, 0];
  for (const pair of trials) {
    const [old, recent] = [measure(pair.baseline), measure(pair.candidate)];
    if (old === undefined || recent === undefined) continue;
    n += 1;
    before += old;
    after += recent;
  }
  return n === 0 ? undefined : { before: before / n, after: after / n };
}

/** Each case counts once, however many trials it has. */
function deltaOf(cases: readonly WholePair[][], { baseline, candidate }: Sides, measure: Measure): Delta {
  const differences: number[] = [];
  let [before, after] = [0, 0];
  for (const trials of cases) {
    const means = meansOf(trials, measure);
    if (!means) continue;
    before += means.before;
    after += means.after;
    differences.push(means.after - means.before);
  }
  const n = differences.length;
  return {
    n,
    baseline: n > 0 ? before / n : null,
    candidate: n > 0 ? after / n : null,
    ...meanDifference(differences),
    baselineTotal: totalOf(baseline.results, measure),
    candidateTotal: totalOf(candidate.results, measure),
  };
}

export function usageDeltas(pairs: readonly WholePair[], sides: Sides): Comparison['usage'] {
  const cases = byCase(pairs);
  return {
    tokens: deltaOf(cases, sides, ({ usage }) => usage.tokens),
    costUsd: deltaOf(cases, sides, ({ usage }) => usage.costUsd),
    steps: deltaOf(cases, sides, ({ usage }) => usage.steps),
    durationMs: deltaOf(cases, sides, ({ durationMs }) => durationMs),
  };
}

interface GraderTally {
  grader: string;
  kind: string;
  baseline: { n: number; passed: number };
  candidate: { n: number; passed: number };
  regressed: number;
  fixed: number;
}

/** Every grader by name and kind, over all runs that it measured; those with most regressions first. */
export function graderChanges(pairs: readonly WholePair[], { baseline, candidate }: Sides): GraderChange[] {
  const tallies = new Map<string, GraderTally>();
  const tallyOf = (grader: string, kind: string): GraderTally => {
    const key = JSON.stringify([grader, kind]);
    const none = {
      grader,
      kind,
      baseline: { n: 0, passed: 0 },
      candidate: { n: 0, passed: 0 },
      regressed: 0,
      fixed: 0,
    };
    const tally = tallies.get(key) ?? none;
    tallies.set(key, tally);
    return tally;
  };
  const count = (side: 'baseline' | 'candidate', results: readonly CaseResult[]): void => {
    for (const { scores } of results) {
      for (const { grader, kind, passed } of scores) {
        const tally = tallyOf(grader, kind)[side];
        tally.n += 1;
        if (passed) tally.passed += 1;
      }
    }
  };
  count('baseline', baseline.results);
  count('candidate', candidate.results);
  for (const pair of pairs) {
    for (const { grader, kind, passed } of pair.candidate.scores) {
      const before = pair.baseline.scores.find((score) => score.grader === grader && score.kind === kind);
      if (!before || before.passed === passed) continue;
      tallyOf(grader, kind)[passed ? 'fixed' : 'regressed'] += 1;
    }
  }
  return [...tallies.values()]
    .sort((a, b) => b.regressed - a.regressed || b.fixed - a.fixed || (a.grader < b.grader ? -1 : 1))
    .map((tally) => ({
      ...tally,
      baseline: wilson(tally.baseline.passed, tally.baseline.n),
      candidate: wilson(tally.candidate.passed, tally.candidate.n),
    }));
}
