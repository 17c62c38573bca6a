import type { CaseEnv, EvalCase, FileContent } from '../contracts/case.js';
import { PlatformError } from '../contracts/errors.js';
import type { HarnessSpec, Params } from '../contracts/harness.js';
import type { GitCredential } from './git-credential.js';
import type { PasswordCredential } from './password-credential.js';
import type { PayloadTimers } from './payload.js';

/** What every job of a deployment is given alike. */
export interface JobSettings {
  /** Text of the wrapper. */
  wrapper: string;
  timers: Omit<PayloadTimers, 'timeoutSec'>;
  answerLimit: number;
  payloadLimit: number;
}

/** Values of secrets that one attempt is given. */
export interface GivenSecrets {
  /** By the name of the secret. */
  env: ReadonlyMap<string, string>;
  /** For the host of the case's repository. */
  git?: GitCredential;
  /** For the registry of the image. */
  registry?: RegistryCredential;
}

/** What a registry asks of who pulls an image. */
export type RegistryCredential = PasswordCredential;

const NO_SECRETS: GivenSecrets = { env: new Map() };

export interface JobParts<Harness extends HarnessSpec = HarnessSpec> {
  runId: string;
  case: EvalCase;
  harness: Harness;
  /** The scorecard's word before the harness's. */
  params: Params;
  secrets?: GivenSecrets;
}

/** Context goes before the task, as a reader would be given both. */
export const taskOf = ({ task, env }: EvalCase): string =>
  env.kind === 'prompt' && env.context !== undefined ? `${env.context}\n\n${task}` : task;

/** What the work directory begins with. */
export interface Start {
  files?: Readonly<Record<string, FileContent>>;
  git?: { url: string; ref: string };
  setup: readonly string[];
}

export function startOf(env: CaseEnv): Start {
  if (env.kind !== 'repo') return { setup: [] };
  const { source, setup = [] } = env;
  if ('files' in source) return { files: source.files, setup };
  return { git: { url: source.git, ref: source.ref }, setup };
}

/** The variables of a harness, with the values of the secrets it names, and of no other. */
export function envOf({ id, env }: HarnessSpec, { env: values }: GivenSecrets = NO_SECRETS): Record<string, string> {
  const variables = Object.entries(env).map(([name, value]) => {
    if (typeof value === 'string') return [name, value];
    const given = values.get(value.secretRef);
    if (given !== undefined) return [name, given];
    throw new PlatformError('SECRET_MISSING', `harness ${id} was not given the secret ${value.secretRef} for ${name}`);
  });
  return Object.fromEntries(variables);
}

/** Names of the secrets that a harness names. */
export const secretNames = ({ env }: HarnessSpec): string[] => [
  ...new Set(Object.values(env).flatMap((value) => (typeof value === 'string' ? [] : [value.secretRef]))),
];

/** Stand-ins, for whoever looks at a job and is not to know its secrets. */
export const unknownSecrets = (harness: HarnessSpec): GivenSecrets => ({
  env: new Map(secretNames(harness).map((name) => [name, ''])),
});
