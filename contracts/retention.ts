import { z } from 'zod';

const Days = z.int().min(1).max(36_500).nullable();

/** How long a workspace keeps what it has, in days after the end of a scorecard; null: for ever. */
export const Retention = z
  .strictObject({
    resultsDays: Days.describe('Then a scorecard is deleted, as DELETE does it; null: never'),
    logsDays: Days.describe('Then the logs of its runs are deleted, for good; null: with the results'),
  })
  .refine(({ resultsDays, logsDays }) => resultsDays === null || logsDays === null || logsDays <= resultsDays, {
    path: ['logsDays'],
    message: 'is longer than `resultsDays`, and logs go with their results: give at most as many days',
  });
export type Retention = z.infer<typeof Retention>;

export const RetentionView = z.strictObject({
  ...Retention.shape,
  graceDays: z.number().describe('So long after it was deleted, a scorecard can be restored'),
});
export type RetentionView = z.infer<typeof RetentionView>;

/** A scorecard that nobody sees any more, and that is not gone yet. */
export const DeletedScorecard = z.strictObject({
  id: z.string(),
  deletedAt: z.string(),
  deletedBy: z.string().describe('A subject, or `retention`'),
  /** Until then it can be restored. */
  purgeAt: z.string(),
});
export type DeletedScorecard = z.infer<typeof DeletedScorecard>;
