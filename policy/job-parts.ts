import type { CaseEnv, EvalCase, FileContent } from '../contracts/case.js';
import { PlatformError } from '../contracts/errors.js';
import type { HarnessSpec, Params } from '../contracts/harness.js';
import type { PayloadTimers } from './payload.js';

/** What every job of a deployment is given alike. */
export interface JobSettings {
  /** Text of the wrapper. */
  wrapper: string;
  timers: Omit<PayloadTimers, 'timeoutSec'>;
  answerLimit: number;
  payloadLimit: number;
}

export interface JobParts<Harness extends HarnessSpec = HarnessSpec> {
  runId: string;
  case: EvalCase;
  harness: Harness;
  /** The scorecard's word before the harness's. */
  params: Params;
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

export function plainEnv({ id, env }: HarnessSpec): Record<string, string> {
  const plain = Object.entries(env).map(([name, value]) => {
    if (typeof value === 'string') return [name, value];
    throw new PlatformError(
      'SECRET_MISSING',
      `harness ${id} names the secret ${value.secretRef} for ${name}, and there are no secrets yet`,
    );
  });
  return Object.fromEntries(plain);
}
