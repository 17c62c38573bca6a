import { z } from 'zod';
import { parseAllowList } from '../policy/addresses.js';
import { ACCESS_ENV, hasAudience, NO_AUDIENCE } from './access-env.js';
import { isLoopback } from './loopback.js';
import { SecretsKey } from './secrets-key.js';
import { TEMPORAL_ENV } from './temporal.js';

const flag = z
  .enum(['0', '1', 'true', 'false'])
  .optional()
  .transform((value) => value === '1' || value === 'true');
const port = z.coerce.number().int().min(0).max(65_535);
const number = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);

/** `host:port` on this machine; an IPv6 address stands in brackets. */
const loopbackAddress = z.string().transform((text, context) => {
  const [, host = '', digits = ''] = /^(\[[0-9a-f:]+\]|[^:[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  const parsed = port.safeParse(digits);
  if (isLoopback(host) && parsed.success) return { host: host.replace(/^\[|\]$/g, ''), port: parsed.data };
  context.addIssue(
    `is ${JSON.stringify(text)}: without access control it is host:port of this machine, as 127.0.0.1:9464`,
  );
  return z.NEVER;
});

const DATABASE_FORM = 'postgres://user:password@host:port/database';
/** What is wrong with it is told without it: it holds a password. */
const databaseUrl = z
  .string({ error: `is not set: ${DATABASE_FORM}` })
  .min(1, { error: `is not set: ${DATABASE_FORM}`, abort: true })
  .refine(
    isPostgresUrl,
    `is not of the form ${DATABASE_FORM}, with # % / ? @ in a password written as %23 and the like`,
  );

/** Networks that a workspace's addresses may lie in besides the public internet. */
const egressAllow = z.string().transform((text, context) => {
  const { rules, faults } = parseAllowList(text);
  for (const fault of faults) context.addIssue(fault);
  return rules;
});

const Env = z.object({
  DATABASE_URL: databaseUrl,
  ...TEMPORAL_ENV,
  /** Where people look at workflows, for links to them. */
  EVERDICT_TEMPORAL_UI: z
    .url({ protocol: /^https?$/, error: 'is not an http(s) URL' })
    .optional()
    .or(z.literal('').transform(() => undefined)),
  /** Seals secrets; empty where the deployment keeps none. */
  EVERDICT_SECRETS_KEY: SecretsKey,
  ...ACCESS_ENV,
  PORT: port.default(8787),
  EVERDICT_HOST: z.string().default('127.0.0.1'),
  /** Where a worker serves `/metrics`; port 0 is any free one. */
  EVERDICT_METRICS_ADDRESS: loopbackAddress.prefault('127.0.0.1:0'),
  /** First part of every allocation name: tells deployments apart that share a cluster. */
  EVERDICT_DEPLOYMENT: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$/, 'is 1 to 16 of a-z 0-9 -')
    .default('everdict'),
  /** Where this host keeps its id and the state of local jobs. */
  EVERDICT_STATE_DIR: z.string().default('.everdict'),
  EVERDICT_ALLOW_LOCAL_RUNTIMES: flag,
  /** All that local jobs see of this process's environment. */
  PATH: z.string().default('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'),
  LANG: z.string().default('C.UTF-8'),
  EVERDICT_ALLOW_UNISOLATED_DRIVERS: flag,
  EVERDICT_ALLOW_AMBIENT_KUBECONFIG: flag,
  /** Kubernetes clusters that enforce network policies, by `server` or `context`, separated by commas. */
  EVERDICT_NETWORK_POLICY_CLUSTERS: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter(Boolean)),
  /** Kubeconfigs of secrets may run programs and read files of this host. */
  EVERDICT_ALLOW_KUBECONFIG_EXEC: flag,
  EVERDICT_EGRESS_ALLOW: egressAllow.prefault(''),
  /** Connections of one process to one Nomad; an agent takes 100 of one source by default. */
  EVERDICT_NOMAD_CONNECTIONS: number(20, 1, 1_000),
  /** How long a job that a cluster placed may take to start, and how long after the first error of pulling its image. */
  EVERDICT_START_PATIENCE_SEC: number(900, 1, 86_400),
  EVERDICT_PULL_PATIENCE_SEC: number(60, 1, 86_400),
  /** How long a cluster may be unreachable before the attempts on it count as lost. */
  EVERDICT_UNREACHABLE_SEC: number(1_800, 1, 86_400),
  /** How long the removal of a job is tried before its case ends without it; a sweep goes on with it. */
  EVERDICT_CLEANUP_SEC: number(540, 1, 540),
  /** Takes the local queue over from another host. */
  EVERDICT_TAKE_OVER: flag,
  /** Files of runtimes, harnesses and datasets that every workspace may use. */
  EVERDICT_SHARED_DIR: z.string().min(1).optional(),
  EVERDICT_SETUP_SEC: number(600, 1, 86_400),
  EVERDICT_GRADER_SEC: number(300, 1, 86_400),
  EVERDICT_GRACE_SEC: number(2, 0, 60),
  EVERDICT_LINGER_SEC: number(120, 1, 3_600),
  EVERDICT_QUEUE_DEADLINE_SEC: number(86_400, 1, 30 * 86_400),
  /** Runs without outcome that one workspace may have, and all of them together. */
  EVERDICT_MAX_WAITING_PER_WORKSPACE: number(500_000, 1, 100_000_000),
  EVERDICT_MAX_WAITING: number(2_000_000, 1, 100_000_000),
  /** Between two sweeps; also how old a leftover of a job must be. */
  EVERDICT_SWEEP_SEC: number(30, 1, 3_600),
  /** Requests of one workspace that a process of the API takes; 0: any number. Unset: 100, and any where nobody needs a key. */
  EVERDICT_REQUESTS_PER_SEC: z.coerce.number().int().min(0).max(100_000).optional(),
  /** How long a scorecard that was deleted can be restored. */
  EVERDICT_DELETION_GRACE_SEC: number(7 * 86_400, 1, 365 * 86_400),
  /** How long rows of the audit trail are kept. */
  EVERDICT_AUDIT_DAYS: number(365, 1, 36_500),
  /** Longest statement of the database; a connection that is silent for a quarter more is given up. */
  EVERDICT_STATEMENT_SEC: number(60, 1, 3_600),
  /** Start-to-close of a workflow task; tests of crashes lower it. */
  EVERDICT_WORKFLOW_TASK_SEC: number(10, 1, 60),
  EVERDICT_ANSWER_KB: number(256, 1, 1_024),
  EVERDICT_PAYLOAD_KB: number(512, 1, 1_024),
  EVERDICT_LOG_MB: number(10, 1, 1_024),
  /** Largest dataset upload, streamed as JSONL. */
  EVERDICT_UPLOAD_MB: number(1_024, 1, 1_048_576),
});
export type Env = z.infer<typeof Env>;

/** Every variable that a process of the API or a worker reads. */
export const ENV_NAMES: readonly string[] = Object.keys(Env.shape);

/** Parses the environment once, at start. The only reader of `process.env`. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const parsed = Env.refine(hasAudience, NO_AUDIENCE).safeParse(source);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new Error(`the environment is not usable:\n${faults.join('\n')}`);
}

function isPostgresUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return /^postgres(ql)?:$/.test(protocol);
  } catch {
    return false;
  }
}
