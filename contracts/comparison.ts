import { z } from 'zod';
import { ErrorClass } from './attempt.js';
import { Reroll } from './reroll.js';
import { Outcome, Score } from './run.js';
import { Counts, Rate, Rates } from './scorecard-numbers.js';
import { untrusted } from './untrusted.js';

/** One of the two scorecards of a comparison. */
export const ComparedScorecard = z.strictObject({
  id: z.string(),
  status: z.string(),
  dataset: z.string(),
  /** Of the content of the dataset, cases and all. */
  datasetHash: z.string(),
  /** Cases that the dataset has, of which the scorecard may have run some. */
  datasetCases: z.int(),
  harness: z.string(),
  runtime: z.string().nullable(),
  trials: z.int(),
  createdAt: z.string(),
  counts: Counts,
  rates: Rates,
  rerolls: z.array(Reroll),
});
export type ComparedScorecard = z.infer<typeof ComparedScorecard>;

/** What keeps two scorecards from being compared whole. */
export const Incomparable = z.strictObject({
  what: z.enum(['dataset', 'cases', 'graders', 'trials']),
  /** Names both sides, in a sentence. */
  message: untrusted('user'),
  /** Case ids at fault, the first few of `count`. */
  cases: untrusted('user', z.array(z.string())),
  count: z.int(),
});
export type Incomparable = z.infer<typeof Incomparable>;

/** What became of a case between two scorecards. */
export const Transition = z.enum([
  /** Passed, and fails now. */
  'regressed',
  /** Failed, and passes now. */
  'fixed',
  /** Has no verdict of its graders now: errored, cancelled or decided by hand. */
  'errored',
  /** Had no verdict, and has one now. */
  'recovered',
  /** In the candidate alone. */
  'new',
  /** In the baseline alone. */
  'missing',
  'unchanged',
]);
export type Transition = z.infer<typeof Transition>;

const ComparedRun = z.strictObject({
  run: z.string(),
  outcome: Outcome.nullable(),
  errorClass: ErrorClass.nullable(),
  errorCode: z.string().nullable(),
  reason: untrusted('job').nullable(),
  scores: z.array(Score).nullable(),
});
export type ComparedRun = z.infer<typeof ComparedRun>;

/** One case and trial, where something changed. */
export const CaseChange = z.strictObject({
  /** `caseId#trial`, or the case id alone where both have one trial. */
  key: untrusted('user'),
  caseId: untrusted('user'),
  trial: z.int(),
  tags: untrusted('user', z.array(z.string())),
  transition: Transition,
  baseline: ComparedRun.nullable(),
  candidate: ComparedRun.nullable(),
});
export type CaseChange = z.infer<typeof CaseChange>;

/** A measured quantity on both sides, over the cases in which both have it; nulls where there is none. */
export const Delta = z.strictObject({
  /** Cases; one with several trials counts with their mean. */
  n: z.int(),
  baseline: z.number().nullable().describe('Mean per run'),
  candidate: z.number().nullable().describe('Mean per run'),
  difference: z.number().nullable(),
  /** 95 % interval of the mean of the paired differences, after Student’s t; null for less than two cases. */
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** Sums over everything that reported it, paired or not. */
  baselineTotal: z.number().nullable(),
  candidateTotal: z.number().nullable(),
});
export type Delta = z.infer<typeof Delta>;

export const GraderChange = z.strictObject({
  grader: untrusted('user'),
  kind: z.string(),
  baseline: Rate,
  candidate: Rate,
  regressed: z.int(),
  fixed: z.int(),
});
export type GraderChange = z.infer<typeof GraderChange>;

/**
 * Paired test over the cases of which both sides are known: passed, failed, or errored by agent, harness or config, which is
 * no pass. A case with several trials passes if all of them do. Shares are of 1.
 */
export const PairedTest = z.strictObject({
  /** Cases. */
  pairs: z.int(),
  /** Passed, and do not any more. */
  regressed: z.int(),
  /** Did not pass, and do now. */
  fixed: z.int(),
  /** Two-sided exact McNemar. */
  pValue: z.number(),
  /** Candidate's pass rate minus the baseline's, with its 95 % score interval (Tango). Null without pairs. */
  difference: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type PairedTest = z.infer<typeof PairedTest>;

export const Comparison = z.strictObject({
  baseline: ComparedScorecard,
  candidate: ComparedScorecard,
  /** `intersection`: only cases that are the same on both sides were compared; `differs` says what was left out. */
  basis: z.enum(['all', 'intersection']),
  differs: z.array(Incomparable),
  counts: z.record(Transition, z.int()),
  /** Every case that changed, worst first, up to what was asked for. */
  changes: z.array(CaseChange),
  /** Whether there are more changes than are listed. */
  hasMore: z.boolean(),
  /** Those with most regressions first, the first of `graderCount`. */
  graders: z.array(GraderChange),
  graderCount: z.int(),
  usage: z.strictObject({ tokens: Delta, costUsd: Delta, steps: Delta, durationMs: Delta }),
  test: PairedTest,
});
export type Comparison = z.infer<typeof Comparison>;

/** Trials of one scorecard: what a harness does once, and what it does every time. */
export const TrialReport = z.strictObject({
  trials: z.int(),
  /** Cases of which every trial is known: passed, failed, or errored by agent, harness or config, which is no pass. */
  cases: z.int(),
  /** Cases left out since a trial of theirs is not: errored by infrastructure, cancelled, decided by hand or not ended. */
  incomplete: z.int(),
  /** Mean over cases of the share of trials that passed, with a 95 % interval over cases. */
  passAt1: z.strictObject({
    n: z.int(),
    rate: z.number().nullable(),
    low: z.number().nullable(),
    high: z.number().nullable(),
  }),
  /** For k from 1 to `trials`: the chance that k trials drawn of a case all pass, mean over cases, with its interval. */
  passHatK: z.array(
    z.strictObject({
      k: z.int(),
      rate: z.number().nullable(),
      low: z.number().nullable(),
      high: z.number().nullable(),
    }),
  ),
  /** Cases of which some trials passed and some did not, the closest to a coin first, the first of `flakyCount`. */
  flaky: z.array(z.strictObject({ caseId: untrusted('user'), passed: z.int(), failed: z.int() })),
  flakyCount: z.int(),
});
export type TrialReport = z.infer<typeof TrialReport>;
