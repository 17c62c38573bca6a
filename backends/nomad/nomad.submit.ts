import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { AllocationRef, Job, Submitted } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';
import { asRefused } from '../cluster-failures.js';
import type { NomadClient } from './nomad.client.js';
import { isPassing, NomadRefusal } from './nomad.failures.js';
import { isOurs, nomadJob } from './nomad.job.js';
import { jobPath } from './nomad.paths.js';
import { Accepted, AclToken, KnownJob } from './nomad.replies.js';
import { secretsMbOf } from './nomad.templates.js';

export interface Submit {
  client: NomadClient;
  spec: NomadRuntimeSpec;
  job: Job;
  allocation: AllocationRef;
  isLive(): Promise<boolean>;
  /** Absent: it is not known. */
  clusterVersion(): Promise<string | undefined>;
  signal: AbortSignal;
}

/** Registers whose answer is lost are told by reading; so many in one call. */
const MOST_REGISTERS = 3;

/**
 * 1. Read the job of that name: what is there is adopted if its meta is this attempt's; a failed read ends here.
 * 2. Absent, and confirmed before: it is lost, and never made again.
 * 3. Register it on the condition that there is none. If the answer is lost, read it again: 1.
 * Whatever dies in between leaves no job, or one that the next try reads.
 */
export async function submitJob(submit: Submit): Promise<Submitted> {
  const { signal } = submit;
  try {
    for (let tries = 1; ; tries += 1) {
      const found = await lookFor(submit, signal);
      if (found) return found;
      if (submit.allocation.submittedAt !== undefined) return 'lost';
      if (!(await submit.isLive())) return 'over';
      if (await register(submit, tries < MOST_REGISTERS, signal)) return 'created';
    }
  } catch (error) {
    throw await explained(error, submit, signal);
  }
}

async function lookFor(
  { client, job, allocation: { name } }: Submit,
  signal: AbortSignal,
): Promise<'adopted' | 'taken' | undefined> {
  const known = await readJob(client, name, signal);
  return known && (isOurs(known.Meta, job.owner) ? 'adopted' : 'taken');
}

/** Absent only by Nomad's own word. */
export async function readJob(client: NomadClient, name: string, signal: AbortSignal): Promise<KnownJob | undefined> {
  try {
    return await client.read(jobPath(name), KnownJob, { signal });
  } catch (error) {
    if (error instanceof NomadRefusal && error.isAbsence) return undefined;
    throw error;
  }
}

/** False where it is to be read what became of it. */
async function register(submit: Submit, mayBeLost: boolean, signal: AbortSignal): Promise<boolean> {
  const { client, spec, job, allocation } = submit;
  const document = nomadJob(job, allocation, spec, await versionFor(submit));
  const body = { Job: document, EnforceIndex: true, JobModifyIndex: 0 };
  try {
    client.parsed(await client.ask('PUT', '/v1/jobs', { body, signal }), Accepted);
    return true;
  } catch (error) {
    if (error instanceof NomadRefusal && error.isOccupied) return false;
    if (mayBeLost && isPassing(error)) return false;
    throw error;
  }
}

/** Most jobs are taken by every Nomad. What only a later one takes waits until it is known which this is. */
async function versionFor({ job, clusterVersion }: Submit): Promise<string | undefined> {
  try {
    return await clusterVersion();
  } catch (error) {
    if (secretsMbOf(job.payload) > 1) throw error;
    return undefined;
  }
}

/**
 * A region that is not there is the fault of the spec where a job is begun.
 * Nomad refuses alike what a token may not do and a token that it does not know: the token itself is asked for.
 */
async function explained(error: unknown, { client, spec }: Submit, signal: AbortSignal): Promise<unknown> {
  if (error instanceof NomadRefusal && error.isOfNoRegion) {
    return new ClusterFailure('refused', error.message, { cause: error });
  }
  if (!(error instanceof NomadRefusal) || error.reason !== 'auth' || !client.hasToken) return asRefused(error);
  const token = await client.get('/v1/acl/token/self', AclToken, { signal }).catch(() => undefined);
  if (!token || Date.parse(token.ExpirationTime ?? '') < Date.now()) return error;
  const namespace = spec.namespace ?? 'default';
  const message = `\`namespace\`: the ACL token is valid, and may not run jobs in ${namespace} (${error.status}): it needs submit-job, read-job and read-logs there`;
  return new ClusterFailure('refused', message, { cause: error });
}
