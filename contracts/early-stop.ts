import { z } from 'zod';
import { GateRules, GateVerdict } from './gate.js';
import { ScorecardId, SpecId, SpecRef } from './ids.js';
import { untrusted } from './untrusted.js';

/** How a scorecard may end before all its cases did. Its cases run in an order drawn at random for that. */
export const EarlyStop = z.strictObject({
  policy: z.union([SpecRef, GateRules]),
  /** A scorecard, or the name of a pinned baseline. */
  baseline: z.union([ScorecardId, SpecId]).optional(),
  /** How often, at most, the verdict may differ from that of the whole scorecard. 0: never, only what no rest could change. */
  errorRate: z.number().min(0).max(0.5).default(0.05),
  /** Not before so many cases have a verdict. */
  minCases: z.int().min(1).max(100_000).default(20),
});
export type EarlyStop = z.infer<typeof EarlyStop>;

/** What an `EarlyStop` came to when the scorecard was submitted: the rules themselves, and a scorecard for a baseline. */
export const EarlyStopPlan = z.strictObject({
  policy: z.strictObject({ ref: z.string().nullable(), hash: z.string(), rules: GateRules }),
  /** The id of a scorecard. */
  baseline: z.string().nullable(),
  errorRate: z.number(),
  minCases: z.int(),
});
export type EarlyStopPlan = z.infer<typeof EarlyStopPlan>;

export const StoppedEarly = z.strictObject({
  verdict: GateVerdict,
  errorRate: z.number(),
  /** Cases that had a verdict, of `total`. */
  seen: z.int(),
  total: z.int(),
  /** In a sentence, with the numbers. */
  reason: untrusted('user'),
  at: z.string(),
});
export type StoppedEarly = z.infer<typeof StoppedEarly>;
