import { z } from 'zod';
import { ListQuery } from '../common/cursor.js';

export const PolicyQuery = ListQuery.extend({
  id: z.string().max(63).optional().describe('Only the versions of this id'),
});
export type PolicyQuery = z.infer<typeof PolicyQuery>;
