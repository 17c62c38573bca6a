import { z } from 'zod';

/** Runs by state. The first four add up to `submitted` at every instant; the last four to `settled`. */
export const Counts = z.strictObject({
  submitted: z.int(),
  queued: z.int(),
  waiting: z.int(),
  running: z.int(),
  settled: z.int(),
  passed: z.int(),
  failed: z.int(),
  errored: z.int(),
  cancelled: z.int(),
  /** Of `errored`, those with class `infra`. */
  infraErrors: z.int(),
  /** Of `settled`, those that an operator decided. They are in no pass rate. */
  decided: z.int(),
});
export type Counts = z.infer<typeof Counts>;

/** A share with its 95 % Wilson interval; all but `n` are absent-as-null when `n` is 0. */
export const Rate = z.strictObject({
  n: z.int(),
  passed: z.int(),
  rate: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type Rate = z.infer<typeof Rate>;

/**
 * The pass rate, always three ways, over what was measured. `firstAttempt` and `final` are over settled − cancelled,
 * `infraExcluded` over those without infra errors. Provisional while `counts.settled` is below `counts.submitted`.
 */
export const Rates = z.strictObject({ firstAttempt: Rate, final: Rate, infraExcluded: Rate });
export type Rates = z.infer<typeof Rates>;
