import { z } from 'zod';
import { ScorecardId, SpecId } from '../../contracts/ids.js';

const Compared = z.union([ScorecardId, SpecId], 'is neither the id of a scorecard nor the name of a baseline');

export const ComparisonQuery = z.strictObject({
  baseline: Compared.describe('A scorecard, or the name of a pinned baseline'),
  candidate: Compared.describe('The one that is judged by it'),
  on: z
    .enum(['all', 'intersection'])
    .default('all')
    .describe('`intersection`: only the cases that are the same on both sides, which the answer says'),
  limit: z.coerce.number().int().min(0).max(1_000).default(100).describe('At most so many changes'),
});
export type ComparisonQuery = z.infer<typeof ComparisonQuery>;
