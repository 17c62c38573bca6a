import { z } from 'zod';
import { ScorecardId } from '../../contracts/ids.js';
import { ListQuery } from '../common/cursor.js';

export const GateQuery = ListQuery.extend({
  candidate: ScorecardId.optional().describe('Only the verdicts over this scorecard'),
});
export type GateQuery = z.infer<typeof GateQuery>;
