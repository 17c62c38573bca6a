import { PlatformError } from '../contracts/errors.js';
import type { HarnessSpec } from '../contracts/harness.js';
import { envOf, type JobParts, type JobSettings, startOf, taskOf } from './job-parts.js';
import { buildPayload, payloadBytes } from './payload.js';
import { processPayload } from './process-job.js';

/** Everything a job reads, by flat file name. Refuses, by code, what cannot be a job of this version. */
export function jobPayload(parts: JobParts, settings: JobSettings): Map<string, Uint8Array> {
  const payload = payloadOf(parts, settings);
  const size = payloadBytes(payload);
  if (size > settings.payloadLimit) {
    const message = `case ${parts.case.id} with harness ${parts.harness.id} makes a payload of ${size} bytes, and ${settings.payloadLimit} are allowed`;
    throw new PlatformError('PAYLOAD_TOO_LARGE', message);
  }
  return payload;
}

function payloadOf({ harness, ...parts }: JobParts, settings: JobSettings): Map<string, Uint8Array> {
  switch (harness.kind) {
    case 'command':
      return commandPayload({ ...parts, harness }, settings);
    case 'process':
      return processPayload({ ...parts, harness }, settings);
    case 'service':
      throw new PlatformError(
        'HARNESS_NOT_BUILT',
        `harness ${harness.id} is of kind ${harness.kind}, which this version cannot run yet`,
      );
  }
}

function commandPayload(
  { runId, case: evalCase, harness, params, secrets }: JobParts<Extract<HarnessSpec, { kind: 'command' }>>,
  { wrapper, answerLimit, timers }: JobSettings,
): Map<string, Uint8Array> {
  const start = startOf(evalCase.env);
  return buildPayload({
    wrapper,
    runId,
    caseId: evalCase.id,
    task: taskOf(evalCase),
    ...start,
    setup: [...start.setup, ...harness.setup],
    command: harness.command,
    graders: evalCase.graders.flatMap((grader) => (grader.kind === 'command' ? [grader.command] : [])),
    env: envOf(harness, secrets),
    gitCredential: secrets?.git,
    params: { ...harness.params, ...params },
    model: harness.model,
    workDir: harness.workDir,
    timers: { ...timers, timeoutSec: evalCase.timeoutSec },
    answerLimit,
  });
}
