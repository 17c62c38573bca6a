import { z } from 'zod';

export const ForceQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('Also where no admin is left then'),
});
export type ForceQuery = z.infer<typeof ForceQuery>;
