import { z } from 'zod';
import { ScorecardStatus } from '../../contracts/scorecard.js';
import { line } from '../../contracts/text.js';

export const EventQuery = z.strictObject({
  runs: z.enum(['true', 'false']).default('true').describe('`false`: only how many there are, none by itself'),
});
export type EventQuery = z.infer<typeof EventQuery>;

export const StragglerQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('At most so many'),
});
export type StragglerQuery = z.infer<typeof StragglerQuery>;

export const Pause = z.strictObject({ reason: line(500).optional().describe('For everybody who waits for it') });
export type Pause = z.infer<typeof Pause>;

export const Submitted = z.strictObject({
  id: z.string(),
  status: ScorecardStatus,
  /** id@version of the one runtime of all cases, also where it was chosen; null: each case has its own target. */
  runtime: z.string().nullable(),
  /** Runs that were made: cases times trials. */
  cases: z.int(),
  links: z.strictObject({ self: z.string(), cases: z.string(), cancel: z.string() }),
  /** Of what it uses: what is deprecated, and what was confirmed by naming it. */
  warnings: z.array(z.string()),
});
export type Submitted = z.infer<typeof Submitted>;
