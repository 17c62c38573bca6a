import type { AllocationRef, Job } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { K8sObjects, Meta, NetworkPolicyDocument, SecretDocument } from './k8s.documents.js';
import { ALLOCATION_LABEL, annotationsOf, labelsOf } from './k8s.labels.js';
import { networkPolicyName, payloadSecretName, pullSecretName } from './k8s.names.js';
import { type PodSource, podOf } from './k8s.pod.js';
import { enforcedOf } from './k8s.resources.js';
import { payloadSecret, pullSecret } from './k8s.secrets.js';

/** Seconds for which a Job that ended is kept where nobody deletes it: longer than any worker is away that still reads its log. */
const TTL_SEC = 86_400;

/** Meshes put a proxy into pods that never ends, unless they are told not to; autoscalers move pods away unless told not to. */
const POD_ANNOTATIONS = {
  'sidecar.istio.io/inject': 'false',
  'linkerd.io/inject': 'disabled',
  'kuma.io/sidecar-injection': 'disabled',
  'consul.hashicorp.com/connect-inject': 'false',
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};
/** These read labels. */
const POD_LABELS = { 'sidecar.istio.io/inject': 'false', 'kuma.io/sidecar-injection': 'disabled' };

/** Everything that one attempt is on the cluster. The Job is made first, suspended, so that it owns the others. */
export function objectsOf(job: Job, allocation: AllocationRef, spec: PodSource, patience: Patience): K8sObjects {
  const labels = { ...labelsOf(job.owner), [ALLOCATION_LABEL]: allocation.name };
  const annotations = annotationsOf(job.owner);
  const meta = (name: string): Meta => ({ name, labels, annotations });
  const { image = spec.image, registry } = job;
  return {
    job: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: meta(allocation.name),
      spec: {
        suspend: true,
        backoffLimit: 0,
        completions: 1,
        parallelism: 1,
        podReplacementPolicy: 'Failed',
        ttlSecondsAfterFinished: TTL_SEC,
        template: {
          metadata: { labels: { ...labels, ...POD_LABELS }, annotations: { ...annotations, ...POD_ANNOTATIONS } },
          spec: podOf(job, allocation, spec, patience),
        },
      },
    },
    secrets: [
      payloadSecret(job, allocation, meta(payloadSecretName(allocation))),
      ...(registry ? [pullSecret(image, registry, meta(pullSecretName(allocation)))] : []),
    ],
    ...(job.network === 'none' && { networkPolicy: closedNetwork(allocation, meta(networkPolicyName(allocation))) }),
  };
}

/** Nothing of the pod of an allocation reaches anything. */
const closedNetwork = ({ name }: AllocationRef, metadata: Meta): NetworkPolicyDocument => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec: { podSelector: { matchLabels: { [ALLOCATION_LABEL]: name } }, policyTypes: ['Egress'], egress: [] },
});

/** An object that goes with its Job. */
export function ownedBy<Document extends SecretDocument | NetworkPolicyDocument>(
  document: Document,
  { name, uid }: { name: string; uid: string },
): Document {
  const ownerReferences: Meta['ownerReferences'] = [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }];
  return { ...document, metadata: { ...document.metadata, ownerReferences } };
}

/** What of a job is part of a run's record: where it may run, in what, and with what. */
export function attestedOf(job: Job, spec: PodSource): Record<string, unknown> {
  const { image, runtimeClass, nodeSelector = {}, tolerations = [] } = spec;
  return {
    image: job.image ?? image,
    ...(runtimeClass !== undefined && { runtimeClass }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations.length > 0 && { tolerations }),
    enforced: enforcedOf(job),
  };
}
