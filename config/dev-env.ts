import { z } from 'zod';

const DevEnv = z.object({
  /** The `temporal` binary to use. */
  EVERDICT_TEMPORAL_CLI: z.string().min(1).optional(),
  PATH: z.string().default(''),
  XDG_CACHE_HOME: z.string().min(1).optional(),
});
export type DevEnv = z.infer<typeof DevEnv>;

/** What finding the embedded servers reads of the environment. */
export const readDevEnv = (source: NodeJS.ProcessEnv = process.env): DevEnv => DevEnv.parse(source);
