import { z } from 'zod';
import { ListQuery } from '../common/cursor.js';

const name = z.string().min(1).max(600);
const moment = z.iso.datetime({ offset: true, error: 'is a time as 2026-01-31T12:00:00Z' });

export const TrailQuery = ListQuery.extend({
  subject: name.optional().describe('Only what this subject did'),
  action: name.optional().describe('Only this action, as `runtimes.register`, or all of a resource: `runtimes`'),
  object: name.optional().describe('Only what was done to this, as `gpu@1.0.0`, or to all versions of `gpu`'),
  since: moment.optional().describe('Only at or after this time'),
  until: moment.optional().describe('Only before this time'),
});
export type TrailQuery = z.infer<typeof TrailQuery>;
