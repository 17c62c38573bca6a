import { z } from 'zod';
import { ScorecardId, SpecRef } from '../../contracts/ids.js';
import { ScorecardStatus } from '../../contracts/scorecard.js';
import { line } from '../../contracts/text.js';
import { ListQuery } from '../common/cursor.js';

const Named = SpecRef.refine(
  (ref) => !ref.endsWith('@latest'),
  'means another version from time to time: give the version, or the id alone for every one',
).optional();

/** `key=value`; the value may hold more `=`. */
const Pair = z
  .string()
  .max(1_100)
  .regex(/^[^=]+=/, 'is not `key=value`');

const Pairs = z.union([Pair.transform((pair) => [pair]), z.array(Pair).max(50)]).transform((pairs, ctx) => {
  const entries = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const metadata: Record<string, string> = Object.fromEntries(entries);
  if (Object.keys(metadata).length === pairs.length) return metadata;
  ctx.addIssue('gives a key twice, and a scorecard has one value of each');
  return z.NEVER;
});

/** Query of the list of scorecards: each narrows it down. */
export const ScorecardQuery = ListQuery.extend({
  status: ScorecardStatus.optional().describe('Only those in this status'),
  dataset: Named.describe('Only those of this dataset: `id`, for every version, or `id@version`'),
  harness: Named.describe('Only those of this harness: `id`, for every version, or `id@version`'),
  metadata: Pairs.optional().describe('Only those with this entry, as `branch=main`; several: all of them'),
  retryOf: ScorecardId.optional().describe('Only those that retry this scorecard'),
  stoppedEarly: z.enum(['true', 'false']).optional().describe('Only those that did, or did not, end before all cases'),
});
export type ScorecardQuery = z.infer<typeof ScorecardQuery>;

export const ExportQuery = z.strictObject({
  format: z.enum(['jsonl', 'csv']).default('jsonl'),
  answers: z.enum(['true', 'false']).default('false').describe('`true`: with what each run answered'),
});
export type ExportQuery = z.infer<typeof ExportQuery>;

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

/** Where to go on with a scorecard. */
export const linksOf = (id: string): Submitted['links'] => {
  const self = `/scorecards/${id}`;
  return { self, cases: `${self}/cases`, cancel: `${self}/cancel` };
};
