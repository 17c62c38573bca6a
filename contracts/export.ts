import { z } from 'zod';
import { ErrorClass } from './attempt.js';
import { Outcome, Score } from './run.js';
import { ScorecardView } from './scorecard.js';

/** The first line of an export in JSONL: `runs` lines follow, else it was broken off. */
export const ExportedScorecard = z.strictObject({
  kind: z.literal('scorecard'),
  runs: z.int(),
  scorecard: ScorecardView,
});
export type ExportedScorecard = z.infer<typeof ExportedScorecard>;

/** How bytes of a job are written: as text, or in hex where they are no text in UTF-8. */
export const AnswerEncoding = z.enum(['utf8', 'hex']);
export type AnswerEncoding = z.infer<typeof AnswerEncoding>;

/** Each further line: one run, in the order of the scorecard. */
export const ExportedRun = z.strictObject({
  kind: z.literal('run'),
  run: z.string(),
  caseId: z.string(),
  trial: z.int(),
  tags: z.array(z.string()),
  runtime: z.string(),
  /** Null: it has not ended. */
  outcome: Outcome.nullable(),
  errorClass: ErrorClass.nullable(),
  errorCode: z.string().nullable(),
  reason: z.string().nullable(),
  scores: z.array(Score),
  attempts: z.int(),
  /** How long the command ran. */
  durationMs: z.int().nullable(),
  /** What the harness reported. */
  tokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  steps: z.number().nullable(),
  /** The run that has its attempts, where its result was carried from another scorecard. */
  carriedFrom: z.string().nullable(),
  /** Who settled it in place of its graders. */
  decidedBy: z.string().nullable(),
  settledAt: z.string().nullable(),
  /** With `answers=true` only, as are the two that follow. */
  answer: z.string().nullable().optional(),
  answerEncoding: AnswerEncoding.nullable().optional(),
  /** Whether the job wrote more than is kept. */
  answerCut: z.boolean().optional(),
});
export type ExportedRun = z.infer<typeof ExportedRun>;
