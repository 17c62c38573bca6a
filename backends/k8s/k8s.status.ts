import { oneLine } from '../cluster-text.js';
import { exitOf, exitText, isOutOfMemory, isRemoved, mainOf, restartsOf } from './k8s.evidence.js';
import type { K8sJob, Pod, SeenPod } from './k8s.replies.js';

export type Standing = 'pending' | 'running' | 'ended';

const OVER: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/**
 * How far a pod is, by the container that is the job's: its phase follows a second later, and stays Running for as long
 * as a container beside it does. One of which its node tells no more may be running.
 */
export function standingOf(pod: SeenPod): Standing {
  const { phase = 'Pending' } = pod.status;
  if (pod.deleted || OVER.has(phase)) return 'ended';
  if (mainOf(pod)?.state.running) return 'running';
  if (exitOf(pod)) return 'ended';
  // What is removed before it started never starts.
  return phase === 'Pending' && isRemoved(pod) ? 'ended' : 'pending';
}

/** Whether something of it may still run. */
export const mayRun = (pod: SeenPod): boolean => standingOf(pod) !== 'ended';

/** What is known of a pod, where something more was heard of it: what removes one that has ended did not end it. */
export const lastWord = (before: SeenPod | undefined, now: SeenPod): SeenPod =>
  before && !isRemoved(before) && !mayRun(before) && isRemoved(now) ? before : now;

export interface Choice {
  /** Absent: there is none, or no longer. */
  pod?: SeenPod;
  /** Those that Kubernetes made beside it: nothing of theirs counts. */
  others: SeenPod[];
}

/**
 * The pod that the verdict belongs to: the one that was seen first, else the first that was made. One of an earlier Job
 * of that name is none of this one's.
 */
export function choosePod(pods: readonly SeenPod[], placedAs: string | undefined, job?: K8sJob): Choice {
  const byAge = [...pods].sort((a, b) => compare(ageKey(a), ageKey(b)));
  const pod = byAge.find(({ metadata }) => (placedAs === undefined ? isOf(metadata, job) : metadata.uid === placedAs));
  return { ...(pod && { pod }), others: byAge.filter((other) => other !== pod) };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const ageKey = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ''} ${metadata.uid}`;

function isOf({ ownerReferences }: Pod['metadata'], job: K8sJob | undefined): boolean {
  const owner = ownerReferences.find(({ kind }) => kind === 'Job');
  return !job || !owner || owner.uid === job.metadata.uid;
}

/** What is known of where a pod runs, and of what should not have happened to it. */
export function provenanceOf({ pod, others }: Choice & { pod: SeenPod }) {
  const anomalies = anomaliesOf(pod, others);
  const { image, imageID } = mainOf(pod) ?? {};
  return {
    node: oneLine(pod.spec.nodeName ?? ''),
    pod: oneLine(pod.metadata.name),
    podUid: oneLine(pod.metadata.uid),
    ...(image && { image: oneLine(image, LONGEST_IMAGE) }),
    ...(imageID && { imageId: oneLine(imageID, LONGEST_IMAGE) }),
    ...(anomalies.length > 0 && { anomalies }),
  };
}

const LONGEST_IMAGE = 300;

function anomaliesOf(pod: SeenPod, others: readonly SeenPod[]): string[] {
  const restarts = restartsOf(pod);
  const anomalies: string[] = [];
  if (isOutOfMemory(pod)) anomalies.push(`oom: memory ran out in its container (${exitText(exitOf(pod))})`);
  if (restarts > 0) anomalies.push(restartText(restarts));
  for (const { metadata, status } of others.slice(0, 3)) {
    const phase = oneLine(status.phase ?? 'Pending');
    anomalies.push(
      `re-executed: Kubernetes made another pod of it, ${oneLine(metadata.name)} (${phase}): it does not count`,
    );
  }
  return anomalies;
}

export const restartText = (restarts: number): string =>
  `Kubernetes started it ${restarts === 1 ? 'once' : `${restarts} times`} more, which its pod forbids`;
