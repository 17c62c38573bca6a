import { isAllocationOf } from '../../policy/naming.js';
import type { Allocation } from '../../policy/sweep.js';
import type { AllocationPage } from '../backend.js';
import { isNamedBy, ownerOf, selectorOf } from './k8s.labels.js';
import type { Connected } from './k8s.link.js';
import { jobsPath, podsPath } from './k8s.paths.js';
import { K8sJob, Pod } from './k8s.replies.js';
import { isOwned } from './k8s.stop.js';

/** Where a page begins: in the list of Jobs, or after those in that of pods. */
const PODS = 'pods:';

/** A page of what a deployment has on a cluster, by its labels alone: its Jobs, and then pods that no Job takes with it. */
export async function listJobs(
  { client, namespace }: Connected,
  deployment: string,
  from: string | undefined,
): Promise<AllocationPage> {
  const { signal } = new AbortController();
  const labelSelector = selectorOf(deployment);
  if (from?.startsWith(PODS)) {
    const listing = { labelSelector, signal, from: from.slice(PODS.length) || undefined };
    const { items, next } = await client.list(podsPath(namespace), Pod, listing);
    const parted = items.filter(({ metadata }) => !isOwned(metadata));
    return { allocations: allocationsOf(deployment, parted), ...(next !== undefined && { next: `${PODS}${next}` }) };
  }
  const { items, next } = await client.list(jobsPath(namespace), K8sJob, { labelSelector, signal, from });
  return { allocations: allocationsOf(deployment, items), next: next ?? PODS };
}

const allocationsOf = (deployment: string, objects: readonly Pick<K8sJob, 'metadata'>[]): Allocation[] =>
  objects.flatMap(({ metadata: { labels, annotations, creationTimestamp = '' } }) => {
    const owner = ownerOf(labels, annotations);
    if (!owner || !isAllocationOf(deployment, owner.allocation) || !isNamedBy(labels, owner.allocation)) return [];
    const { allocation: name, workspaceId, expiresAt = Number.POSITIVE_INFINITY } = owner;
    return [{ name, workspaceId, madeAt: Date.parse(creationTimestamp) || 0, expiresAt }];
  });
