import { z } from 'zod';
import { EvalCase } from './case.js';
import { SpecId, SpecVersion } from './ids.js';
import { Description, Tags } from './runtime.js';

/** What describes a dataset, without its cases: the head of a JSON upload, or the query of a JSONL one. */
export const DatasetHead = z.strictObject({
  id: SpecId,
  version: SpecVersion,
  description: Description.optional(),
  tags: Tags,
});
export type DatasetHead = z.infer<typeof DatasetHead>;

/** Cases of one dataset. */
export const MOST_CASES = 100_000;

/** A versioned set of cases, each with an id of its own. */
export const Dataset = DatasetHead.extend({
  cases: z.array(EvalCase).min(1, 'has no cases').max(MOST_CASES, 'has more than 100,000 cases'),
}).superRefine(({ cases }, ctx) => {
  const first = new Map<string, number>();
  for (const [index, { id }] of cases.entries()) {
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    else ctx.addIssue({ code: 'custom', path: ['cases', index, 'id'], message: `repeats the id of cases[${earlier}]` });
  }
});
export type Dataset = z.infer<typeof Dataset>;

/** A registered dataset as lists show it. */
export const DatasetSummary = DatasetHead.extend({
  caseCount: z.int(),
  contentHash: z.string(),
  createdAt: z.string(),
});
export type DatasetSummary = z.infer<typeof DatasetSummary>;
