import type { Comparison, Delta, GraderChange, PairedTest } from '../../contracts/comparison.js';
import { type CaseResult, passedOf } from '../case-result.js';
import { wilson } from '../rates.js';
import { mcnemar } from './mcnemar.js';
import { meanDifference, meanOf } from './mean-difference.js';
import { pairedDifference } from './paired-difference.js';
import { byCase, type WholePair } from './pairs.js';
import type { Sides } from './side.js';

/** Whether every one of these trials passed; undefined where that of one is not known. */
function allPassed(trials: readonly CaseResult[]): boolean | undefined {
  const passed = trials.map(passedOf);
  return passed.includes(undefined) ? undefined : passed.every(Boolean);
}

/** The paired test over cases: one with several trials passes if all of them do. */
export function testOf(pairs: readonly WholePair[]): PairedTest {
  let [known, regressed, fixed] = [0, 0, 0];
  for (const trials of byCase(pairs)) {
    const before = allPassed(trials.map(({ baseline }) => baseline));
    const after = allPassed(trials.map(({ candidate }) => candidate));
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
  const values = results.flatMap((result) => measure(result) ?? []);
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) : null;
}

/** Each case counts once: with the mean of those of its trials that have the quantity on both sides. */
function deltaOf(cases: readonly WholePair[][], { baseline, candidate }: Sides, measure: Measure): Delta {
  const means = cases.flatMap((trials) => {
    const measured = trials.flatMap((pair) => {
      const [before, after] = [measure(pair.baseline), measure(pair.candidate)];
      return before === undefined || after === undefined ? [] : [{ before, after }];
    });
    if (measured.length === 0) return [];
    return [
      { before: meanOf(measured.map(({ before }) => before)), after: meanOf(measured.map(({ after }) => after)) },
    ];
  });
  return {
    n: means.length,
    baseline: means.length > 0 ? meanOf(means.map(({ before }) => before)) : null,
    candidate: means.length > 0 ? meanOf(means.map(({ after }) => after)) : null,
    ...meanDifference(means.map(({ before, after }) => after - before)),
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
    for (const { grader, kind, passed } of results.flatMap(({ scores }) => scores)) {
      const tally = tallyOf(grader, kind)[side];
      tally.n += 1;
      if (passed) tally.passed += 1;
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
