import { ClusterFailure } from '../cluster-client.js';
import { createdPods } from './k8s.events.js';
import { selectorOf } from './k8s.labels.js';
import { eventsPath, podPath, podsPath } from './k8s.paths.js';
import { K8sEvent, type K8sJob, Pod } from './k8s.replies.js';
import type { Choice } from './k8s.status.js';
import type { Watching } from './k8s.watch.js';

/** Of one object. */
const MOST_EVENTS = 100;
const MOST_PODS = 3;

/** The pods of the job that is watched, by a call of their own. */
export async function readPods(watching: Watching): Promise<Pod[]> {
  const { client, namespace, deployment, allocation, signal, listener } = watching;
  const labelSelector = selectorOf(deployment, allocation.name);
  const { items } = await client.list(podsPath(namespace), Pod, { labelSelector, signal, listener });
  return items;
}

/** What was said of a job and of its pods. Events are hints: none where they cannot be read. */
export async function readEvents(
  watching: Watching,
  { job, podUid }: { job?: K8sJob | undefined; podUid?: string | undefined },
): Promise<K8sEvent[]> {
  const { client, namespace, signal } = watching;
  const about = async (fieldSelector: string): Promise<K8sEvent[]> => {
    const query = { fieldSelector, limit: MOST_EVENTS, signal };
    return (await client.list(eventsPath(namespace), K8sEvent, query)).items;
  };
  try {
    const ofJob = job ? await about(`involvedObject.uid=${job.metadata.uid}`) : [];
    const pods =
      podUid === undefined
        ? (job ? createdPods(ofJob, job) : []).slice(0, MOST_PODS).map((name) => `involvedObject.name=${name}`)
        : [`involvedObject.uid=${podUid}`];
    return [ofJob, ...(await Promise.all(pods.map(about)))].flat();
  } catch (error) {
    if (!(error instanceof ClusterFailure) || signal.aborted) throw error;
    return [];
  }
}

/** Kubernetes may start a job twice: what does not count is ended, each once. */
export async function removeOthers(
  { client, namespace, signal, removed }: Watching,
  { others }: Choice,
): Promise<void> {
  for (const { metadata, deleted } of others) {
    const { name, uid, deletionTimestamp } = metadata;
    if (deleted || removed.has(uid) || deletionTimestamp !== undefined) continue;
    removed.add(uid);
    await client.delete(podPath(namespace, name), { uid, signal });
  }
}
