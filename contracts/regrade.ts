import { z } from 'zod';
import { Graders } from './grader.js';
import { SpecRef } from './ids.js';

/** By what stored answers are graded anew: one list for every case, or what each case has in another dataset. */
export const RegradeRequest = z
  .strictObject({
    graders: Graders.min(1, 'is empty: say what an answer must have').optional(),
    /** id@version, like a corrected version of its own dataset: its case of the same id has the graders. */
    dataset: SpecRef.optional(),
  })
  .refine(({ graders, dataset }) => (graders === undefined) !== (dataset === undefined), {
    message: 'give either `graders`, for every case, or a `dataset` that has those of each',
  });
export type RegradeRequest = z.infer<typeof RegradeRequest>;
