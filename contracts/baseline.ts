import { z } from 'zod';
import { ScorecardId, SpecId } from './ids.js';

/** Never taken for the id of a scorecard. */
export const BaselineName = SpecId.refine(
  (name) => !ScorecardId.safeParse(name).success,
  'is the id of a scorecard, which needs no name',
);
export type BaselineName = z.infer<typeof BaselineName>;

/** Points a name of the workspace to a scorecard. */
export const BaselinePin = z.strictObject({ scorecard: ScorecardId });
export type BaselinePin = z.infer<typeof BaselinePin>;

export const BaselineView = z.strictObject({
  name: z.string(),
  scorecard: z.string(),
  pinnedBy: z.string(),
  pinnedAt: z.string(),
});
export type BaselineView = z.infer<typeof BaselineView>;
