import type { EvalCase } from '../contracts/case.js';
import type { FieldError } from '../contracts/errors.js';
import type { HarnessSpec } from '../contracts/harness.js';
import { GIT_CREDENTIAL_FILE, gitCredentialFile } from './git-credential.js';
import { envOf, type JobParts, type JobSettings, startOf, taskOf } from './job-parts.js';
import { jobVariables, USAGE_LIMIT } from './payload.js';

type ProcessHarness = Extract<HarnessSpec, { kind: 'process' }>;

/** A program that reads the payload and prints the record itself. */
export interface Program {
  entrypoint: readonly string[];
  env: Readonly<Record<string, string>>;
}

/**
 * The whole payload of such a program: one file, so that it needs no more than a JSON parser, and one more for the
 * checkout of a private repository, which it is to delete.
 */
export function processPayload(parts: JobParts<ProcessHarness>, settings: JobSettings): Map<string, Uint8Array> {
  const { runId, case: evalCase, harness, params, secrets } = parts;
  const { files, git } = startOf(evalCase.env);
  const description = {
    version: 1,
    runId,
    caseId: evalCase.id,
    task: taskOf(evalCase),
    model: harness.model,
    params: { ...harness.params, ...params },
    files: files ?? {},
    git,
    timeoutSec: evalCase.timeoutSec,
    graceSec: settings.timers.graceSec,
    lingerSec: settings.timers.lingerSec,
    answerLimit: settings.answerLimit,
    usageLimit: USAGE_LIMIT,
  };
  const encoder = new TextEncoder();
  const payload = new Map([['job.json', encoder.encode(`${JSON.stringify(description, undefined, 2)}\n`)]]);
  if (secrets?.git) payload.set(GIT_CREDENTIAL_FILE, encoder.encode(gitCredentialFile(secrets.git)));
  return payload;
}

/** Absent where the wrapper runs the harness. */
export function programOf({ runId, case: { id: caseId }, harness, params, secrets }: JobParts): Program | undefined {
  if (harness.kind !== 'process') return undefined;
  const { model } = harness;
  const variables = { runId, caseId, model, env: envOf(harness, secrets), params: { ...harness.params, ...params } };
  return { entrypoint: harness.entrypoint, env: jobVariables(variables) };
}

/** What a case declares that only a shell in the job could do; paths are those of the case. */
export function shellFaults({ graders, env }: EvalCase, { kind, id }: HarnessSpec): FieldError[] {
  if (kind !== 'process') return [];
  const faults = graders.flatMap((grader, index) => (grader.kind === 'command' ? [`graders[${index}]`] : []));
  if (env.kind === 'repo' && (env.setup?.length ?? 0) > 0) faults.push('env.setup');
  return faults.map((path) => {
    const what = path === 'env.setup' ? 'setup steps are scripts' : 'a `command` grader is a script';
    return { path, message: `${what}, and nothing runs scripts in the job of harness ${id}, which is a process` };
  });
}
