import { z } from 'zod';
import { ErrorClass } from '../../contracts/attempt.js';
import { Outcome, RunState } from '../../contracts/run.js';
import { ListQuery } from './cursor.js';

/** Query of lists of runs. */
export const RunQuery = ListQuery.extend({
  state: RunState.optional().describe('Only runs in this state'),
  outcome: Outcome.optional().describe('Only runs that ended so'),
  class: ErrorClass.optional().describe('Only runs that errored, with this class'),
});
export type RunQuery = z.infer<typeof RunQuery>;
