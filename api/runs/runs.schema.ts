import { z } from 'zod';
import { AttemptView, RunState } from '../../contracts/run.js';

export const SubmittedRun = z.strictObject({
  id: z.string(),
  state: RunState,
  links: z.strictObject({ self: z.string(), attempts: z.string(), logs: z.string(), cancel: z.string() }),
});
export type SubmittedRun = z.infer<typeof SubmittedRun>;

export const Attempts = z.strictObject({ items: z.array(AttemptView), next: z.null() });
export type Attempts = z.infer<typeof Attempts>;

export const LogQuery = z
  .strictObject({
    stream: z.enum(['stdout', 'stderr']).optional().describe('Absent: both, in the order in which they were kept'),
    attempt: z.coerce.number().int().min(1).optional().describe('Absent: the last'),
    offset: z.coerce.number().int().min(0).optional().describe('First byte wanted of the stream'),
  })
  .refine(({ stream, offset }) => offset === undefined || stream !== undefined, {
    path: ['offset'],
    message: 'counts the bytes of one stream: give `stream`, too',
  });
export type LogQuery = z.infer<typeof LogQuery>;
