import { z } from 'zod';
import { ComparedScorecard, Incomparable, PairedTest } from './comparison.js';
import { CaseId, ScorecardId, SpecId, SpecRef, SpecVersion } from './ids.js';
import { Description, Tags } from './runtime.js';
import { Rate } from './scorecard-numbers.js';
import { untrusted } from './untrusted.js';

const Share = z.number().min(0).max(1);
const MAX_TAG_RULES = 100;
const MostCases = z.int().min(0).max(100_000);

/** What cases with a tag must reach, beside all of them. */
const TagRule = z
  .strictObject({ minPassRate: Share.optional(), maxRegressions: MostCases.optional() })
  .refine((rule) => Object.keys(rule).length > 0, 'says nothing: give `minPassRate` or `maxRegressions`');

/** Each is counted over all cases. */
const TagRules = z
  .record(z.string().min(1).max(63), TagRule)
  .refine((rules) => Object.keys(rules).length <= MAX_TAG_RULES, `at most ${MAX_TAG_RULES} tags`);

/**
 * Every share is of 1, over the expected cases (not their trials): those of the baseline and the candidate's own. A case
 * was measured if its graders gave a verdict, or it broke by its own fault; one that was not is never a pass.
 */
const Rules = z.strictObject({
  /** Share of the expected cases that must pass. */
  minPassRate: Share.optional(),
  /** At most so many cases that passed in the baseline do not now. Needs a baseline. */
  maxRegressions: MostCases.optional(),
  perTag: untrusted('user', TagRules).optional(),
  /** Cases that must pass, by id or by tag; each of them must be there. */
  critical: z
    .strictObject({
      cases: untrusted('user', z.array(CaseId).min(1).max(10_000)).optional(),
      tags: untrusted('user', z.array(z.string().min(1).max(63)).min(1).max(50)).optional(),
    })
    .refine((rule) => Object.keys(rule).length > 0, 'says nothing: give `cases` or `tags`')
    .optional(),
  /** Of the trials of a case, so many must pass for the case to. Absent: all. */
  minTrialsPassed: z.int().min(1).max(1_000).optional(),
  /** Share of the expected cases that must have been measured; of those of the baseline, too. At least one case must. */
  minCoverage: Share.default(1),
  /** Share of the expected cases that infrastructure may leave without a verdict; of those of the baseline, too. */
  maxInfraShare: Share.default(1),
  /**
   * Whether results that count may have been run again, as failures of the graders, the agent, the harness or the
   * configuration do: `infra` refuses that, `any` counts the last.
   */
  rerolls: z.enum(['infra', 'any']).default('infra'),
});

/** The rest only says when those are believed. */
const saysWhatMustPass = ({ minPassRate, maxRegressions, perTag = {}, critical }: z.infer<typeof Rules>): boolean =>
  [minPassRate, maxRegressions, critical].some((rule) => rule !== undefined) || Object.keys(perTag).length > 0;
const NO_RULE = 'says nothing of what must pass: give `minPassRate`, `maxRegressions`, `perTag` or `critical`';

/** The rules of a gate. */
export const GateRules = Rules.refine(saysWhatMustPass, NO_RULE);
export type GateRules = z.infer<typeof GateRules>;

/** A registered, immutable version of the rules. */
export const GatePolicy = Rules.extend({
  id: SpecId,
  version: SpecVersion,
  description: Description.optional(),
  tags: Tags,
}).refine(saysWhatMustPass, NO_RULE);
export type GatePolicy = z.infer<typeof GatePolicy>;

/** What is said of a registered version of the rules; the rules are read one at a time. */
export const RegisteredPolicy = z.strictObject({
  id: SpecId,
  version: SpecVersion,
  description: Description.optional(),
  tags: Tags,
  /** Whether its id alone means this version. */
  latest: z.boolean(),
  contentHash: z.string(),
  registeredBy: z.string(),
  createdAt: z.string(),
});
export type RegisteredPolicy = z.infer<typeof RegisteredPolicy>;

/** Rules as they were used. */
export const UsedPolicy = z.strictObject({
  ref: z.string().nullable().describe('id@version; null: the rules came with the request'),
  /** Of the rules alone. */
  hash: z.string(),
  rules: GateRules,
});
export type UsedPolicy = z.infer<typeof UsedPolicy>;

export const GateVerdict = z.enum(['pass', 'block', 'blocked_missing', 'not_comparable', 'inconclusive']);
export type GateVerdict = z.infer<typeof GateVerdict>;

export const GateReasonCode = z.enum([
  'PASS_RATE_BELOW_MINIMUM',
  'TOO_MANY_REGRESSIONS',
  'TAG_PASS_RATE_BELOW_MINIMUM',
  'TOO_MANY_TAG_REGRESSIONS',
  'CRITICAL_CASE_NOT_PASSED',
  'CRITICAL_CASE_UNKNOWN',
  'COVERAGE_BELOW_MINIMUM',
  'INFRA_SHARE_ABOVE_MAXIMUM',
  'VERDICTS_REROLLED',
  'DATASET_DIFFERS',
  'CASES_DIFFER',
  'GRADERS_DIFFER',
  'TRIALS_DIFFER',
  'UNDECIDED_CASES',
  'NO_CASES',
  'STOPPED_EARLY',
  'ALL_RULES_HOLD',
]);
export type GateReasonCode = z.infer<typeof GateReasonCode>;

/** One ground of a verdict, with the numbers of the rule it comes from. */
export const GateReason = z.strictObject({
  code: GateReasonCode,
  /** A sentence with the numbers and the first cases by name. */
  message: untrusted('user'),
  rule: untrusted('user').nullable().describe('The rule of the policy, as a path: `perTag.json.minPassRate`'),
  limit: z.number().nullable(),
  actual: z.number().nullable(),
  /** Case ids, the first of `count`. */
  cases: untrusted('user', z.array(z.string())),
  count: z.int(),
});
export type GateReason = z.infer<typeof GateReason>;

/** What would decide a verdict that is inconclusive. */
export const WouldDecide = z.strictObject({
  /** Runs to run again, of the candidate and of the baseline, the first of `rerunCount`. */
  rerun: z.array(z.string()),
  rerunCount: z.int(),
  /** What a retry of their scorecard is asked for to run them again; none: a retry does not reach them. */
  classes: z.array(z.string()),
  /** More trials of each undecided case; 0: none are needed. */
  moreTrials: z.int(),
  /** The same in a sentence, with the calls that do it. */
  message: untrusted('user'),
});
export type WouldDecide = z.infer<typeof WouldDecide>;

export const GateEvidence = z.strictObject({
  /** Cases that were expected: those of the baseline and the candidate's own. */
  expected: z.int(),
  /** Of them those that were measured. */
  covered: z.int(),
  /** Of them those that are absent, cancelled or not finished. */
  missing: z.int(),
  /** Of them those that infrastructure left without a verdict. */
  infraErrored: z.int(),
  /** Of the expected cases. */
  passRate: Rate,
  /** Cases that passed in the baseline and do not now, the first of `regressionCount`. */
  regressions: untrusted('user', z.array(z.string())),
  regressionCount: z.int(),
  candidate: ComparedScorecard,
  baseline: ComparedScorecard.nullable(),
  differs: z.array(Incomparable),
  basis: z.enum(['all', 'intersection']),
  test: PairedTest.nullable(),
  wouldDecide: WouldDecide.nullable(),
});
export type GateEvidence = z.infer<typeof GateEvidence>;

export const GateRequest = z.strictObject({
  /** A scorecard, or the name of a pinned baseline. Absent: rules that need one are refused. */
  baseline: z.union([ScorecardId, SpecId]).optional(),
  candidate: ScorecardId,
  /** A registered policy, or the rules themselves. */
  policy: z.union([SpecRef, GateRules]),
  /** Compare only the cases that are the same on both sides, and say so. */
  on: z.enum(['all', 'intersection']).default('all'),
  /** Wait so long for a candidate that is not finished, seconds; then, or without it, 409. */
  waitSec: z.int().min(1).max(50).optional(),
});
export type GateRequest = z.infer<typeof GateRequest>;

/** Somebody's word against a verdict. */
export const GateOverride = z.strictObject({
  verdict: z.enum(['pass', 'block']),
  reason: untrusted('user', z.string().trim().min(1, 'says nothing').max(1_000)),
});
export type GateOverride = z.infer<typeof GateOverride>;

export const SpokenOverride = GateOverride.extend({ by: z.string(), at: z.string() });
export type SpokenOverride = z.infer<typeof SpokenOverride>;

export const GateResult = z.strictObject({
  id: z.string(),
  /** What the rules say; it stays, whoever overrides it. */
  verdict: GateVerdict,
  /** What counts: that of the last override, else the rules'. */
  effective: GateVerdict,
  reasons: z.array(GateReason),
  evidence: GateEvidence,
  policy: UsedPolicy,
  /** The last one; null: nobody said otherwise. */
  override: SpokenOverride.nullable(),
  /** All of them, oldest first. */
  overrides: z.array(SpokenOverride),
  by: z.string(),
  createdAt: z.string(),
});
export type GateResult = z.infer<typeof GateResult>;

/** A verdict as lists have it: its reasons in full, its evidence and its rules are read one at a time. */
export const GateSummary = z.strictObject({
  ...GateResult.pick({ id: true, verdict: true, effective: true, override: true, by: true, createdAt: true }).shape,
  candidate: z.string(),
  baseline: z.string().nullable(),
  /** What kinds of reasons it has. */
  reasons: z.array(GateReasonCode),
  policy: UsedPolicy.omit({ rules: true }),
});
export type GateSummary = z.infer<typeof GateSummary>;
