import { z } from 'zod';
import { ScorecardId } from './ids.js';

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
