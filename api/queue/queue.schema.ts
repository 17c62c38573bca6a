import { z } from 'zod';
import { SpecId } from '../../contracts/ids.js';
import { QueueEntry } from '../../contracts/run-waiting.js';
import { ListQuery, pageOf } from '../common/cursor.js';

export const QueueQuery = ListQuery.extend({
  runtime: SpecId.optional().describe('Only what waits for this runtime'),
  all: z.literal('true').optional().describe('Of all workspaces: for the operator'),
});
export type QueueQuery = z.infer<typeof QueueQuery>;

export const QueuePage = pageOf(QueueEntry).extend({
  unread: z.array(z.string()).describe('Runtimes whose ledger did not answer: what waits for them is not here'),
});
export type QueuePage = z.infer<typeof QueuePage>;

/** A pool, and where to go on in its queue; without `after`: at its beginning. */
export const QueuePosition = z.strictObject({ pool: z.string().max(200), after: z.string().max(500).optional() });
export type QueuePosition = z.infer<typeof QueuePosition>;
