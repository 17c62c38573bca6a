import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { allocationName, isAllocationOf } from '../../policy/naming.js';
import type { Allocation } from '../../policy/sweep.js';
import type { AllocationPage } from '../backend.js';
import { oneLine } from '../cluster-text.js';
import { pause } from '../pause.js';
import { withTimeLimit } from '../time-limit.js';
import type { NomadClient } from './nomad.client.js';
import { isPassing } from './nomad.failures.js';
import { allocationsPath, evaluationsPath, jobPath } from './nomad.paths.js';
import { Accepted, type JobAllocation, JobAllocations, JobEvaluations, type KnownJob } from './nomad.replies.js';
import { mayRun } from './nomad.status.js';
import { readJob } from './nomad.submit.js';

/** A task that does not end is killed after some seconds; a node that does not answer may take minutes to be lost. */
const STOP_MS = 45_000;
const FIRST_LOOK_MS = 60;
const LONGEST_LOOK_MS = 1_000;
const PER_PAGE = 500;
/** Allocations that a message names. */
const MOST_NAMED = 3;

/**
 * Ends a job, and reads back that nothing of it runs. One that is dead is left to Nomad's own collection, and so is what
 * remains of this one: a job that vanished while a client still knows an allocation of it could crash that client.
 * Dead is also a job that Nomad is to start again later: that one is ended.
 */
export async function stopJob(client: NomadClient, name: string): Promise<void> {
  let running = '';
  try {
    await withTimeLimit(new AbortController().signal, STOP_MS, async (signal) => {
      const job = await readJob(client, name, signal);
      if (job && !isNamedBy(job, name)) return;
      let isToStop = job !== undefined && !job.Stop;
      if (isToStop && (job?.Status !== 'dead' || (await mayStartAgain(client, name, signal)))) {
        await deregister(client, name, signal);
        isToStop = false;
      }
      for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 1.5)) {
        const query = { all: 'true' };
        const live = (await client.read(allocationsPath(name), JobAllocations, { signal, query })).filter(mayRun);
        if (live.length === 0) return;
        running = namesOf(live);
        // That a job is dead says nothing of its allocations.
        if (isToStop) await deregister(client, name, signal);
        isToStop = false;
        await pause(pauseMs, signal);
      }
    });
  } catch (error) {
    if (running === '') throw error;
    const message = `${name} was stopped, and Nomad does not confirm its end: ${running}`;
    throw new PlatformError('CLUSTER_UNREACHABLE', message, {}, { cause: error });
  }
}

/** A job is said to be dead while a replacement of it is put off. What does not tell its evaluations holds nothing up. */
async function mayStartAgain(client: NomadClient, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    const evaluations = await client.read(evaluationsPath(name), JobEvaluations, { signal });
    return evaluations.some(({ Status }) => Status === 'pending' || Status === 'blocked');
  } catch (error) {
    if (isPassing(error)) throw error;
    return false;
  }
}

async function deregister(client: NomadClient, name: string, signal: AbortSignal): Promise<void> {
  await client.patiently(signal, undefined, async () =>
    client.parsed(await client.ask('DELETE', jobPath(name), { signal }), Accepted),
  );
}

function namesOf(live: readonly JobAllocation[]): string {
  const named = live
    .slice(0, MOST_NAMED)
    .map(({ ID, NodeName, ClientStatus }) => oneLine(`${ID} on ${NodeName} (${ClientStatus})`));
  const more = live.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Whether a job says itself that it is the one we call so. */
function isNamedBy(
  { Meta: { deployment = '', run = '', attempt = '' } }: Pick<KnownJob, 'Meta'>,
  name: string,
): boolean {
  return allocationName(deployment, run, Number(attempt)) === name;
}

const Job = z.object({
  ID: z.string(),
  Status: z.string(),
  /** Nanoseconds: too many to be exact. */
  SubmitTime: z.number(),
  Meta: z.record(z.string(), z.string()).nullish(),
});

/** A page of the jobs of a deployment: those that are not dead, as far as they say that they are its. */
export async function listJobs(
  client: NomadClient,
  deployment: string,
  from: string | undefined,
): Promise<AllocationPage> {
  const { signal } = new AbortController();
  const query = { prefix: `${deployment}-`, meta: 'true', per_page: PER_PAGE, next_token: from };
  const { reply, next } = await client.page('/v1/jobs', z.array(Job), { signal, query });
  const allocations = reply.flatMap(({ ID: name, Status, SubmitTime, Meta }): Allocation[] => {
    if (Status === 'dead' || !isAllocationOf(deployment, name) || !Meta || !isNamedBy({ Meta }, name)) return [];
    const expiresAt = Date.parse(Meta.expires ?? '');
    return [
      {
        ...{ name, madeAt: Math.round(SubmitTime / 1e6), workspaceId: Meta.workspace },
        expiresAt: Number.isNaN(expiresAt) ? Number.POSITIVE_INFINITY : expiresAt,
      },
    ];
  });
  return { allocations, ...(next !== undefined && { next }) };
}
