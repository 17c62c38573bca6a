import { z } from 'zod';
import { RetryClass } from '../../contracts/reroll.js';
import { Submitted } from './scorecards.schema.js';

export const RetryQuery = z.strictObject({
  class: z
    .union([RetryClass.transform((one): RetryClass[] => [one]), z.array(RetryClass).min(1).max(20)])
    .default(['infra'])
    .describe('Which results are left behind: by class of error, or by outcome. May be repeated'),
});
export type RetryQuery = z.infer<typeof RetryQuery>;

export const Retried = Submitted.extend({
  retryOf: z.string(),
  /** Runs whose result it carries on, and those that run again. */
  carried: z.int(),
  retried: z.int(),
});
export type Retried = z.infer<typeof Retried>;

export const Regraded = Submitted.extend({ regradeOf: z.string() });
export type Regraded = z.infer<typeof Regraded>;
