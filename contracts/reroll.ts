import { z } from 'zod';
import { ErrorClass } from './attempt.js';
import { Counts, Rates } from './scorecard-numbers.js';

/** Which results of a scorecard a retry leaves behind and runs again: by class of error, or by outcome. */
export const RetryClass = z.enum([...ErrorClass.options, 'errored', 'cancelled', 'failed']);
export type RetryClass = z.infer<typeof RetryClass>;

/**
 * One line of the re-roll ledger: a scorecard whose results were carried on, the numbers as they stood before some of its
 * cases were run again, and which. The numbers after it are those of the next line, or of the scorecard itself.
 */
export const Reroll = z.strictObject({
  scorecard: z.string(),
  classes: z.array(RetryClass),
  /** Runs whose result was left behind. */
  retried: z.int(),
  /** Of `retried`, those that had failed, or errored by what was under test (agent, harness, config): a gate counts both. */
  decidedAgain: z.int(),
  by: z.string().nullable(),
  at: z.string(),
  counts: Counts,
  rates: Rates,
});
export type Reroll = z.infer<typeof Reroll>;
