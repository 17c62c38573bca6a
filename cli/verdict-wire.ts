import { z } from 'zod';
import {
  CaseChange,
  ComparedScorecard,
  Comparison,
  Delta,
  GraderChange,
  PairedTest,
  TrialReport,
} from '../contracts/comparison.js';
import {
  GateEvidence,
  GateReason,
  GateResult,
  type GateRules,
  GateSummary,
  SpokenOverride,
  WouldDecide,
} from '../contracts/gate.js';

/* What the command line reads of comparisons and verdicts: keys it does not know are ignored. */

const compared = z.object(ComparedScorecard.shape);
const delta = z.object(Delta.shape);
const test = z.object(PairedTest.shape);

export const ComparisonReply = z.object({
  ...Comparison.shape,
  baseline: compared,
  candidate: compared,
  changes: z.array(z.object(CaseChange.shape)),
  graders: z.array(z.object(GraderChange.shape)),
  usage: z.object({ tokens: delta, costUsd: delta, steps: delta, durationMs: delta }),
  test,
});

const evidence = z.object({
  ...GateEvidence.shape,
  candidate: compared,
  baseline: compared.nullable(),
  test: test.nullable(),
  wouldDecide: z.object(WouldDecide.shape).nullable(),
});

const override = z.object(SpokenOverride.shape);

/** Rules are shown as they are. */
const policy = z.object({ ref: z.string().nullable(), hash: z.string(), rules: z.custom<GateRules>() });

export const GateReply = z.object({
  ...GateResult.shape,
  reasons: z.array(z.object(GateReason.shape)),
  evidence,
  policy,
  override: override.nullable(),
  overrides: z.array(override),
});

export const GateSummaryReply = z.object({
  ...GateSummary.shape,
  policy: policy.omit({ rules: true }),
  override: override.nullable(),
});

export const TrialReply = z.object(TrialReport.shape);
