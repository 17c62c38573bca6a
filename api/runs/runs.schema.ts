import { z } from 'zod';
import { LogPositionId, LogStream } from '../../contracts/log-events.js';
import { AttemptView, RunState } from '../../contracts/run.js';

export const SubmittedRun = z.strictObject({
  id: z.string(),
  state: RunState,
  /** id@version, also where it was chosen. */
  runtime: z.string(),
  links: z.strictObject({ self: z.string(), attempts: z.string(), logs: z.string(), cancel: z.string() }),
  /** Of what it uses: what is deprecated, and what was confirmed by naming it. */
  warnings: z.array(z.string()),
});
export type SubmittedRun = z.infer<typeof SubmittedRun>;

export const Attempts = z.strictObject({ items: z.array(AttemptView), next: z.null() });
export type Attempts = z.infer<typeof Attempts>;

export const LogQuery = z
  .strictObject({
    stream: LogStream.optional().describe('Absent: both, in the order in which they were kept'),
    attempt: z.coerce.number().int().min(1).optional().describe('Absent: the last'),
    offset: z.coerce.number().int().min(0).optional().describe('First byte wanted of the stream'),
    follow: z.enum(['', 'true']).optional().describe('Answers with events, until the run is settled'),
    from: LogPositionId.optional().describe('With `follow`: the id of the last event that is known'),
  })
  .refine(({ stream, offset }) => offset === undefined || stream !== undefined, {
    path: ['offset'],
    message: 'counts the bytes of one stream: give `stream`, too',
  })
  .refine(({ follow, offset }) => offset === undefined || follow === undefined, {
    path: ['offset'],
    message: 'is for a log that is read once: with `follow` give `from`',
  })
  .refine(({ follow, from, attempt }) => from === undefined || (follow !== undefined && attempt === undefined), {
    path: ['from'],
    message: 'names the attempt itself: give it with `follow`, and without `attempt`',
  });
export type LogQuery = z.infer<typeof LogQuery>;
