import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import type { AllocationRef, Job, Submitted } from '../backend.js';
import type { Patience } from '../cluster.js';
import { ClusterFailure } from '../cluster-client.js';
import { pause } from '../pause.js';
import { placementTimeout } from '../start-timeouts.js';
import type { K8sClient } from './k8s.client.js';
import type { K8sObjects, NetworkPolicyDocument, SecretDocument } from './k8s.documents.js';
import { K8sRefusal } from './k8s.failures.js';
import { isOurs } from './k8s.labels.js';
import { objectsOf, ownedBy } from './k8s.objects.js';
import { jobPath, jobsPath, networkPoliciesPath, networkPolicyPath, secretPath, secretsPath } from './k8s.paths.js';
import { explained, quotaIn } from './k8s.refusals.js';
import { K8sJob, Named } from './k8s.replies.js';

export interface Submit {
  client: K8sClient;
  namespace: string;
  spec: K8sRuntimeSpec;
  patience: Patience;
  job: Job;
  allocation: AllocationRef;
  isLive(): Promise<boolean>;
  signal: AbortSignal;
}

/** For an earlier Job of the name, until it is gone. */
const GONE_MS = 45_000;
const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 2_000;
/** While a quota has no room for another Job. */
const ROOM_LOOK_MS = 3_000;
/** What somebody else removes or makes in between is made again so often. */
const MOST_TRIES = 3;

/**
 * 1. Read the Job of that name: one of other labels is not ours; one that is being deleted is waited for; one that was
 *    ever started is adopted; a failed read ends here. Absent, and confirmed before: it is lost, and never made again.
 * 2. Make it, suspended: nothing runs. If the answer is lost: 1.
 * 3. Make what it owns: its Secrets, and what closes the network. An old one is replaced: it was of this same attempt.
 * 4. Ask whether the attempt lives. If not, remove the Job; what it owns goes with it.
 * 5. Resume it, by its uid. If it is gone by then: 1.
 * Whatever dies in between leaves nothing, or a suspended Job that the next try goes on with from 3, or a sweep removes.
 */
export async function submitJob(submit: Submit): Promise<Submitted> {
  const { client, spec, patience, job, allocation, namespace, signal } = submit;
  const objects = objectsOf(job, allocation, spec, patience);
  try {
    for (let tries = 1; ; tries += 1) {
      // A lost answer leads here again, to what it is the answer to.
      const found = await client.patiently(
        { signal },
        async () => (await lookFor(submit)) ?? (await made(submit, objects)),
      );
      if (!('job' in found)) return found.outcome;
      const outcome = await started(submit, objects, found.job);
      if (outcome === 'gone' && tries < MOST_TRIES) continue;
      if (outcome === 'gone') throw removed(allocation);
      return outcome === 'started' ? found.outcome : 'over';
    }
  } catch (error) {
    throw explained(error, namespace);
  }
}

/** What is to be answered. With a Job: once that one is started. */
type Found = { outcome: Submitted } | { outcome: 'created' | 'adopted'; job: K8sJob };

async function lookFor(submit: Submit): Promise<Found | undefined> {
  const { allocation, job } = submit;
  const wasConfirmed = allocation.submittedAt !== undefined;
  const found = await settled(submit);
  if (!found) return wasConfirmed ? { outcome: 'lost' } : undefined;
  if (!isOurs(found.metadata.labels, job.owner)) return { outcome: 'taken' };
  // One that was started, and that something else holds back since, is its to resume.
  if (found.spec.suspend !== true || wasConfirmed) return { outcome: 'adopted' };
  return { outcome: 'adopted', job: found };
}

/** The Job of that name that stays. */
async function settled({ client, namespace, allocation, job, signal }: Submit): Promise<K8sJob | undefined> {
  const begun = performance.now();
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 1.5)) {
    const found = await readJob(client, namespace, allocation.name, signal);
    if (!found?.metadata.deletionTimestamp || !isOurs(found.metadata.labels, job.owner)) return found;
    if (performance.now() - begun > GONE_MS) {
      throw new ClusterFailure('error', `an earlier Job ${allocation.name} is being deleted, and is not gone yet`);
    }
    await pause(pauseMs, signal);
  }
}

/** Absent only by the API server's own word. */
export async function readJob(
  client: K8sClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<K8sJob | undefined> {
  try {
    return await client.get(jobPath(namespace, name), K8sJob, { signal });
  } catch (error) {
    if (error instanceof K8sRefusal && error.isAbsence) return undefined;
    throw error;
  }
}

/** A quota of Jobs is waited with: it is how a cluster says that there is no place. */
async function made(submit: Submit, objects: K8sObjects): Promise<Found> {
  const { client, namespace, allocation, spec, isLive, signal } = submit;
  const begun = performance.now();
  for (;;) {
    try {
      const job = await client.post(jobsPath(namespace), objects.job, K8sJob, { signal });
      return { outcome: 'created', job };
    } catch (error) {
      if (error instanceof K8sRefusal && error.isOccupied)
        throw new ClusterFailure('error', raced(allocation), { cause: error });
      const quota = quotaIn(error);
      if (quota === undefined) throw error;
      if (performance.now() - begun >= spec.placementPatienceSec * 1_000) {
        return { outcome: { unplaced: placementTimeout(quota, spec.placementPatienceSec).message } };
      }
    }
    if (!(await isLive())) return { outcome: 'over' };
    await pause(ROOM_LOOK_MS * (0.5 + Math.random()), signal);
  }
}

async function started(
  submit: Submit,
  { secrets, networkPolicy }: K8sObjects,
  { metadata: { name, uid } }: K8sJob,
): Promise<'started' | 'over' | 'gone'> {
  const { client, namespace, isLive, signal } = submit;
  const owner = { name, uid };
  for (const secret of secrets) {
    await put(submit, ownedBy(secret, owner), secretsPath(namespace), secretPath(namespace, secret.metadata.name));
  }
  if (networkPolicy) {
    const path = networkPolicyPath(namespace, networkPolicy.metadata.name);
    await put(submit, ownedBy(networkPolicy, owner), networkPoliciesPath(namespace), path);
  }
  const path = jobPath(namespace, name);
  if (!(await isLive())) {
    await client.delete(path, { signal, uid });
    return 'over';
  }
  try {
    await client.patch(path, { metadata: { uid }, spec: { suspend: false } }, K8sJob, { signal });
    return 'started';
  } catch (error) {
    if (error instanceof K8sRefusal && (error.isAbsence || isAnother(error))) return 'gone';
    throw error;
  }
}

/** In place of one that an earlier try left. It is not read: who may read Secrets, may read those of others. */
async function put(
  { client, allocation, signal }: Submit,
  document: SecretDocument | NetworkPolicyDocument,
  all: string,
  one: string,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.patiently({ signal }, () => client.post(all, document, Named, { signal }));
      return;
    } catch (error) {
      if (!(error instanceof K8sRefusal && error.isOccupied)) throw error;
      if (tries === MOST_TRIES) throw new ClusterFailure('error', raced(allocation), { cause: error });
    }
    await client.delete(one, { signal });
  }
}

/** A uid cannot be changed: that of another Job is refused. */
const isAnother = ({ status, said }: K8sRefusal): boolean =>
  status === 422 && said?.details.causes.some(({ field }) => field === 'metadata.uid') === true;

const raced = ({ name }: AllocationRef): string => `something else makes objects called ${name} at the same time`;

const removed = ({ name }: AllocationRef): ClusterFailure =>
  new ClusterFailure('error', `something removes Job ${name} before it is started`);
