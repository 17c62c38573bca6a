import type { Job } from '../backends/backend.js';
import { effectiveResources, imageOf } from '../policy/demand.js';
import type { GivenSecrets, JobSettings } from '../policy/job-parts.js';
import { jobPayload } from '../policy/job-payload.js';
import { lifeLimit } from '../policy/life-limit.js';
import { programOf } from '../policy/process-job.js';
import type { RunJob } from '../store/run.store.js';
import type { CollectInput } from './attempt.js';

interface Attempted extends CollectInput {
  deployment: string;
  /** Epoch ms. */
  now: number;
}

/** For what no timer says: a cluster that does not answer for half an hour, and the removal. */
const SLACK_MS = 60 * 60_000;

/** What a backend is asked to run for an attempt. */
export function buildJob(
  run: RunJob,
  { runId, attempt, deployment, now }: Attempted,
  settings: JobSettings,
  secrets: GivenSecrets,
): Job {
  const { case: evalCase, harness, params, runtime, workspaceId, scorecardId } = run;
  const placementMs = runtime.kind === 'local' ? 0 : runtime.placementPatienceSec * 1_000;
  const lifeMs = lifeLimit(evalCase, harness, settings.timers).ms + settings.timers.lingerSec * 1_000;
  const { cpu: cpuMillicores, memoryMb, gpu } = effectiveResources(evalCase, harness, runtime);
  const parts = { runId, case: evalCase, harness, params, secrets };
  return {
    payload: jobPayload(parts, settings),
    program: programOf(parts),
    image: imageOf(evalCase, harness, runtime),
    resources: { cpuMillicores, memoryMb, gpu },
    registry: secrets.registry,
    ...(evalCase.network?.mode === 'none' && { network: 'none' as const }),
    lifeMs,
    owner: {
      ...{ deployment, workspaceId, scorecardId, runId, caseId: evalCase.id, attempt },
      expiresAt: now + placementMs + lifeMs + SLACK_MS,
    },
  };
}
