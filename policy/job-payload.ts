import type { CaseEnv, EvalCase } from '../contracts/case.js';
import { PlatformError } from '../contracts/errors.js';
import type { HarnessSpec, Params } from '../contracts/harness.js';
import { buildPayload, type PayloadInput, type PayloadTimers, payloadBytes } from './payload.js';

/** What every job of a deployment is given alike. */
export interface JobSettings {
  /** Text of the wrapper. */
  wrapper: string;
  timers: Omit<PayloadTimers, 'timeoutSec'>;
  answerLimit: number;
  payloadLimit: number;
}

interface JobParts {
  runId: string;
  case: EvalCase;
  harness: HarnessSpec;
  /** The scorecard's word before the harness's. */
  params: Params;
}

/** What a job cannot outlive unless it stopped its own wrapper, ms: all its timers, and a minute to start and to end. */
export function longestLifeMs({ timeoutSec, graders }: EvalCase, timers: JobSettings['timers']): number {
  const { setupSec, graderSec, graceSec } = timers;
  const commands = graders.filter(({ kind }) => kind === 'command').length;
  return (setupSec + timeoutSec + commands * graderSec + (2 + commands) * graceSec + 60) * 1_000;
}

/** Everything a job reads. Refuses, by code, what cannot be a job of this version. */
export function jobPayload(
  { runId, case: evalCase, harness, params }: JobParts,
  settings: JobSettings,
): Map<string, Uint8Array> {
  if (harness.kind !== 'command') {
    throw new PlatformError(
      'HARNESS_NOT_BUILT',
      `harness ${harness.id} is of kind ${harness.kind}, which this version cannot run yet`,
    );
  }
  const { wrapper, answerLimit, payloadLimit, timers } = settings;
  const start = startOf(evalCase.env);
  const payload = buildPayload({
    wrapper,
    runId,
    caseId: evalCase.id,
    task: taskOf(evalCase),
    ...start,
    setup: [...start.setup, ...harness.setup],
    command: harness.command,
    graders: evalCase.graders.flatMap((grader) => (grader.kind === 'command' ? [grader.command] : [])),
    env: plainEnv(harness),
    params: { ...harness.params, ...params },
    model: harness.model,
    workDir: harness.workDir,
    timers: { ...timers, timeoutSec: evalCase.timeoutSec },
    answerLimit,
  });
  const size = payloadBytes(payload);
  if (size > payloadLimit) {
    const message = `case ${evalCase.id} with harness ${harness.id} makes a payload of ${size} bytes, and ${payloadLimit} are allowed`;
    throw new PlatformError('PAYLOAD_TOO_LARGE', message);
  }
  return payload;
}

/** Context goes before the task, as a reader would be given both. */
const taskOf = ({ task, env }: EvalCase): string =>
  env.kind === 'prompt' && env.context !== undefined ? `${env.context}\n\n${task}` : task;

/** What the work directory begins with. */
function startOf(env: CaseEnv): Pick<PayloadInput, 'files' | 'git' | 'setup'> {
  if (env.kind !== 'repo') return { setup: [] };
  const { source, setup = [] } = env;
  if ('files' in source) return { files: source.files, setup };
  return { git: { url: source.git, ref: source.ref }, setup };
}

function plainEnv({ id, env }: HarnessSpec): Record<string, string> {
  const plain = Object.entries(env).map(([name, value]) => {
    if (typeof value === 'string') return [name, value];
    throw new PlatformError(
      'SECRET_MISSING',
      `harness ${id} names the secret ${value.secretRef} for ${name}, and there are no secrets yet`,
    );
  });
  return Object.fromEntries(plain);
}
