import { z } from 'zod';

const MOST_RUNNING = 1_000_000;

/** What the operator sets for a workspace. What is not named stays. */
export const WorkspaceLimitsChange = z
  .strictObject({
    weight: z
      .number()
      .min(0.01)
      .max(1_000)
      .optional()
      .describe('Its share under contention: with 2 it gets twice what a workspace with 1 gets'),
    maxRunning: z
      .int()
      .min(1)
      .max(MOST_RUNNING)
      .nullable()
      .optional()
      .describe('Quota: runs at once over all runtimes; null: none'),
  })
  .refine(({ weight, maxRunning }) => weight !== undefined || maxRunning !== undefined, {
    message: 'changes nothing: give `weight` or `maxRunning`',
  });
export type WorkspaceLimitsChange = z.infer<typeof WorkspaceLimitsChange>;

export const WorkspaceLimits = z.strictObject({
  id: z.string(),
  weight: z.number(),
  maxRunning: z.int().nullable(),
  running: z.int().describe('Runs that have a slot now'),
});
export type WorkspaceLimits = z.infer<typeof WorkspaceLimits>;
