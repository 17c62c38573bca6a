import { z } from 'zod';
import { SpecId } from '../../contracts/ids.js';
import { ListQuery } from '../common/cursor.js';

export const QueueQuery = ListQuery.extend({
  runtime: SpecId.optional().describe('Only what waits for this runtime'),
  all: z.enum(['', 'true']).optional().describe('Of all workspaces: for the operator'),
});
export type QueueQuery = z.infer<typeof QueueQuery>;

/** A pool, and where to go on in its queue; without `after`: at its beginning. */
export const QueuePosition = z.strictObject({ pool: z.string().max(200), after: z.string().max(500).optional() });
export type QueuePosition = z.infer<typeof QueuePosition>;
