import type { Job } from '../backends/backend.js';
import { effectiveResources, imageOf } from '../policy/demand.js';
import type { GivenSecrets, JobSettings } from '../policy/job-parts.js';
import { jobPayload } from '../policy/job-payload.js';
import { programOf } from '../policy/process-job.js';
import type { RunJob } from '../store/run.store.js';
import type { CollectInput } from './attempt.js';

/** What a backend is asked to run for an attempt. */
export function buildJob(
  run: RunJob,
  { runId, attempt }: CollectInput,
  settings: JobSettings,
  secrets: GivenSecrets,
): Job {
  const { case: evalCase, harness, params, runtime, workspaceId } = run;
  const { cpu: cpuMillicores, memoryMb, gpu } = effectiveResources(evalCase, harness, runtime);
  const parts = { runId, case: evalCase, harness, params, secrets };
  return {
    payload: jobPayload(parts, settings),
    program: programOf(parts),
    image: imageOf(evalCase, harness, runtime),
    resources: { cpuMillicores, memoryMb, gpu },
    owner: { workspaceId, runId, attempt },
  };
}
