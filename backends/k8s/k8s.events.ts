import { quoted } from '../cluster-text.js';
import { mainOf } from './k8s.evidence.js';
import type { K8sEvent, K8sJob, SeenPod } from './k8s.replies.js';
import { standingOf } from './k8s.status.js';

/** Events are kept for an hour, merged, and left out: one that is missing is evidence of nothing. */
export type Events = readonly K8sEvent[];

/** Of one object, and not of an earlier one of its name; the newest last. */
export const eventsOf = (events: Events, { uid }: { uid: string }): K8sEvent[] =>
  events.filter(({ involvedObject }) => involvedObject.uid === uid).sort((a, b) => timeOf(a) - timeOf(b));

/** Schedulers tell a time of their own, everyone else the last of all that were merged. */
const timeOf = ({ lastTimestamp, eventTime, firstTimestamp, metadata }: K8sEvent): number =>
  Date.parse(lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '') || 0;

export const lastOf = (events: Events, ...reasons: string[]): K8sEvent | undefined =>
  events.findLast(({ reason = '' }) => reasons.includes(reason));

/** `FailedMount: MountVolume.SetUp failed for volume "s"`. */
export const eventText = ({ reason = '', message = '' }: K8sEvent): string =>
  quoted(message === '' ? reason : `${reason}: ${message}`);

const CREATED = /^Created pod: (\S{1,253})$/;

/** Names of the pods that were made of a Job. */
export const createdPods = (events: Events, job: K8sJob): string[] =>
  eventsOf(events, job.metadata).flatMap(({ reason, message = '' }) =>
    reason === 'SuccessfulCreate' ? (CREATED.exec(message)?.slice(1) ?? []) : [],
  );

const UNTOLD: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** Whether what became of a Job is told by events alone. */
export function needsEvents({ pod }: { pod?: SeenPod }): boolean {
  if (!pod) return true;
  const main = mainOf(pod);
  switch (standingOf(pod)) {
    case 'pending':
      return pod.spec.nodeName !== undefined && UNTOLD.has(main?.state.waiting?.reason ?? '');
    case 'running':
      return false;
    case 'ended':
      // Also of one that succeeded: it may have been evicted, and only an event says so.
      return true;
  }
}
