import type { AttemptFailure } from '../../contracts/attempt.js';
import { because, oneLine, quoted } from '../cluster-text.js';
import { type Events, eventsOf, eventText, lastOf } from './k8s.events.js';
import { conditionOf, exitNote, isOn, isRemoved } from './k8s.evidence.js';
import { K8S_CONTAINER } from './k8s.names.js';
import type { K8sEvent, K8sJob, SeenPod } from './k8s.replies.js';

const evicted = (message: string): AttemptFailure => ({ code: 'EVICTED', message });

/** What its kubelet says of its own limits, and not of its node's. */
const OWN_DISK = /exceeds the (total )?limit|exceeded its local ephemeral storage limit/;

/** Why its node evicted it. A pod that answers TERM with 0 succeeds all the same: only an event tells then. */
function evictedFor({ metadata, status }: SeenPod, events: Events): string | undefined {
  if (status.reason === 'Evicted') return status.message ?? '';
  const event = lastOf(eventsOf(events, metadata), 'Evicted');
  return event && (event.message ?? '');
}

/** A pod that filled the disk that it may have: it is evicted for that, and would be anywhere. */
export function diskFull(pod: SeenPod, events: Events = []): AttemptFailure | undefined {
  const message = evictedFor(pod, events) ?? '';
  if (!OWN_DISK.test(message)) return undefined;
  const text = `it wrote more than the disk that it may have on ${isOn(pod)}${exitNote(pod)}`;
  return { code: 'ABORTED', message: `${text}${because(message)}` };
}

/** Why a node ended a pod, by the reason of its status. */
const BY_NODE: Readonly<Record<string, string>> = {
  Preempting: 'ended it for a critical pod',
  Terminated: 'ended it, for the node is shutting down',
  Shutdown: 'ended it, for the node is shutting down',
  NodeShutdown: 'would not take it, for the node is shutting down',
};

/** Why a pod was to go, by the reason of its condition. */
const DISRUPTIONS: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'it was preempted for a pod of higher priority',
  DeletionByTaintManager: 'a taint was put on its node',
  EvictionByEvictionAPI: 'it was evicted by others, as a drain of its node does',
  TerminationByKubelet: 'its node ended it',
};

/** Ended by its node, or to give way. */
export function eviction(pod: SeenPod, events: Events = []): AttemptFailure | undefined {
  const { reason = '', message } = pod.status;
  const disruption = conditionOf(pod, 'DisruptionTarget');
  const why = evictedFor(pod, events);
  if (why !== undefined) return evicted(`${isOn(pod)} evicted it${exitNote(pod)}${because(why)}`);
  const byNode = BY_NODE[reason];
  if (byNode) return evicted(`${isOn(pod)} ${byNode}${exitNote(pod)}${because(message ?? disruption?.message)}`);
  if (!disruption) return undefined;
  const text =
    DISRUPTIONS[disruption.reason ?? ''] ?? `it was disrupted (${oneLine(disruption.reason ?? 'no reason is given')})`;
  return evicted(`${text}, on ${isOn(pod)}${exitNote(pod)}${because(disruption.message)}`);
}

/** Removed before its end, by others than us: nobody asks how a pod ended that was removed here. */
export function removal(pod: SeenPod, job: K8sJob | undefined, events: Events = []): AttemptFailure | undefined {
  if (!isRemoved(pod)) return undefined;
  const known = removalByEvents(eventsOf(events, pod.metadata)) ?? removalByJob(job);
  const { code, message } = known ?? evicted('somebody deleted its pod in Kubernetes');
  return { code, message: `${message}, on ${isOn(pod)}${exitNote(pod)}` };
}

/** Of pods, by who tells of it; the first of these that there is. */
const REMOVALS: readonly (readonly [string, AttemptFailure['code'], string])[] = [
  ['NodeNotReady', 'NODE_LOST', 'its node was lost'],
  ['Evicted', 'EVICTED', 'its node evicted it'],
  ['Preempted', 'EVICTED', 'it was preempted'],
  ['Preempting', 'EVICTED', 'it was preempted'],
  ['TaintManagerEviction', 'EVICTED', 'a taint was put on its node'],
];

/** What events say of who removed a pod. */
export function removalByEvents(events: readonly K8sEvent[]): AttemptFailure | undefined {
  for (const [reason, code, text] of REMOVALS) {
    const event = lastOf(events, reason);
    if (event) return { code, message: `${text}: ${eventText(event)}` };
  }
  return undefined;
}

/** What a Job says of why it removed its pod. */
export function removalByJob(job: K8sJob | undefined): AttemptFailure | undefined {
  if (!job || job.metadata.deletionTimestamp !== undefined) return evicted('its Job was deleted in Kubernetes');
  if (job.spec.suspend) return evicted('its Job was suspended in Kubernetes, by others than us');
  const failed = conditionOf(job, 'FailureTarget') ?? conditionOf(job, 'Failed');
  if (failed?.reason !== 'DeadlineExceeded') return undefined;
  return evicted(`its Job has a time limit, which is not of ours: ${quoted(failed.message ?? '')}`);
}

/** Of a process that was stopped on its node, and not by its own doing; what a container beside it met says nothing. */
export function stopped(pod: SeenPod, events: Events = []): AttemptFailure | undefined {
  const said = eventsOf(events, pod.metadata).find(
    ({ reason, message = '' }) => reason === 'Killing' && STOPPING.test(message),
  );
  return said && evicted(`something had ${isOn(pod)} stop it${exitNote(pod)}: ${eventText(said)}`);
}

const STOPPING = new RegExp(`container ${K8S_CONTAINER}\\b`, 'i');
