import { z } from 'zod';
import { CiEnv } from './ci-env.js';

const CliEnv = z.object({
  ...CiEnv.shape,
  EVERDICT_URL: z.url({ protocol: /^https?$/, error: 'is not an http(s) URL' }).optional(),
  /** Goes before the key that `login` kept, to whatever platform is spoken to. */
  EVERDICT_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'is not a key')
    .optional(),
  EVERDICT_WORKSPACE: z.string().optional(),
  /** What the platform takes tokens of GitHub workflows for: its own variable of this name. */
  EVERDICT_GITHUB_AUDIENCE: z.string().default('everdict'),
  XDG_CONFIG_HOME: z.string().optional(),
  HOME: z.string().optional(),
  /** Any value but the empty one turns colours off. */
  NO_COLOR: z.string().default(''),
  TERM: z.string().default(''),
});
export type CliEnv = z.infer<typeof CliEnv>;

/** What the command line reads of the environment. */
export function readCliEnv(source: NodeJS.ProcessEnv = process.env): CliEnv {
  // A variable set to nothing, as CI systems do, is not set.
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const parsed = CliEnv.safeParse(set);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new Error(faults.join('; '));
}

/** The environment of a child process: everything of ours, with `extra` on top. */
export function childEnv(extra: Record<string, string>, source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...source, ...extra };
}

/** A Temporal server that is there already, for the launcher to use instead of one of its own. */
export const givenTemporal = (source: NodeJS.ProcessEnv = process.env): string | undefined =>
  source.TEMPORAL_ADDRESS || undefined;

/** What `everdict dev` opens besides the public internet, unless told otherwise: this machine, and private networks. */
const DEV_EGRESS = '127.0.0.0/8,::1,10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fc00::/7';

export const devEgress = (source: NodeJS.ProcessEnv = process.env): string =>
  source.EVERDICT_EGRESS_ALLOW ?? DEV_EGRESS;

/** Whether the environment says what secrets are sealed with. */
export const hasSecretsKey = (source: NodeJS.ProcessEnv = process.env): boolean => Boolean(source.EVERDICT_SECRETS_KEY);
