import type { AttemptFailure } from '../../contracts/attempt.js';
import { oneLine, quoted } from '../cluster-text.js';
import { createdPods, type Events } from './k8s.events.js';
import { conditionOf } from './k8s.evidence.js';
import { removalByEvents, removalByJob } from './k8s.removal.js';
import type { K8sJob } from './k8s.replies.js';

export interface Gone {
  job?: K8sJob;
  /** Of the Job, and of its pods. */
  events?: Events;
  /** The pod that was seen once. */
  placedAs?: string;
}

/**
 * What became of a Job that has no pod any more, or none that was ever seen. First that applies: events of the pods that
 * were made of it; its own word; its pod is gone.
 */
export function goneOf({ job, events = [], placedAs }: Gone): AttemptFailure {
  const names = new Set(job ? createdPods(events, job) : []);
  const ofPods = events.filter(
    ({ involvedObject: { kind, name = '', uid } }) =>
      kind === 'Pod' && (placedAs === undefined ? names.has(name) : uid === placedAs),
  );
  const known = removalByEvents(ofPods) ?? removalByJob(job);
  if (known) return known;
  if (placedAs !== undefined) {
    return { code: 'RESULT_LOST', message: `its pod ${oneLine(placedAs)} is gone, and its log with it` };
  }
  const said = job && (conditionOf(job, 'Failed') ?? conditionOf(job, 'FailureTarget') ?? conditionOf(job, 'Complete'));
  const why = said ? `: ${quoted(`${said.reason ?? said.type}: ${said.message ?? ''}`)}` : '';
  return { code: 'ALLOCATION_LOST', message: `its Job is over, and its pod was gone before it was seen${why}` };
}

/** Whether a Job makes no further pod. */
export const isOver = (job: K8sJob): boolean =>
  ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'].some((type) => conditionOf(job, type) !== undefined);
