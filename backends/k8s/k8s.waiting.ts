import type { AttemptFailure } from '../../contracts/attempt.js';
import { oneLine, quoted } from '../cluster-text.js';
import { type Events, eventsOf } from './k8s.events.js';
import { conditionOf } from './k8s.evidence.js';
import { goneOf, isOver } from './k8s.gone.js';
import { refusalOf } from './k8s.pod-refusal.js';
import type { K8sJob, Pod, SeenPod } from './k8s.replies.js';
import { startFailureOf, startProgressOf } from './k8s.start.js';

export interface Waiting {
  /** Why it does not run yet. */
  detail: string;
  /** It has a node, and is to start there: from then on another patience counts. */
  isPlaced: boolean;
  /** Waiting does not help. */
  failure?: AttemptFailure;
}

/** A Job of which no pod was made yet, or a pod; its Job may have been deleted without it. */
export type Unbegun = { job: K8sJob; pod?: undefined } | { job?: K8sJob; pod: SeenPod };

export type Waited = Unbegun & {
  /** Of the Job, and of the pod. */
  events?: Events;
};

/** Why a Job whose pod has not begun is still waiting. */
export function waitingOf(waited: Waited): Waiting {
  const { events = [] } = waited;
  if (!waited.pod) return unmade(waited.job, events);
  const { pod } = waited;
  if (pod.spec.nodeName === undefined) return { detail: unscheduled(pod), isPlaced: false };
  const failure = startFailureOf(pod, events);
  return { detail: startProgressOf(pod, events), isPlaced: true, ...(failure && { failure }) };
}

function unmade(job: K8sJob, events: Events): Waiting {
  if (isOver(job)) {
    const failure = goneOf({ job, events });
    return { detail: failure.message, isPlaced: false, failure };
  }
  if (job.spec.suspend) {
    const detail = 'placement blocked: its Job is suspended in Kubernetes, by others than us: a queue may hold it back';
    return { detail, isPlaced: false };
  }
  const event = eventsOf(events, job.metadata).findLast(({ reason = '' }) => MADE.has(reason));
  if (event?.reason !== 'FailedCreate') return { detail: 'Kubernetes has not made its pod yet', isPlaced: false };
  const { isFinal, text } = refusalOf(event.message ?? '');
  const failure: AttemptFailure = { code: 'BAD_SPEC', message: `Kubernetes makes no pod of it: ${text}` };
  return { detail: `placement blocked: ${text}`, isPlaced: false, ...(isFinal && { failure }) };
}

const MADE: ReadonlySet<string> = new Set(['FailedCreate', 'SuccessfulCreate']);

/** What follows repeats it, for what would be if others were removed. */
const REPEATED = /\.?\s*(no new claims to deallocate|preemption: ).*$/s;

/** Fields of ours by what the scheduler says of them. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/node affinity\/selector/, '`nodeSelector`'],
  [/untolerated taint/, '`tolerations`'],
  [/Insufficient memory/, '`resources.memoryMb`'],
  [/Insufficient cpu/, '`resources.cpu`'],
  [/Insufficient nvidia\.com\/gpu/, '`resources.gpu`'],
];

function unscheduled(pod: Pod): string {
  const { reason = '', message = '' } = conditionOf(pod, 'PodScheduled', 'False') ?? {};
  if (reason === '') return 'Kubernetes has not scheduled its pod yet';
  if (reason === 'SchedulingGated') {
    return 'placement blocked: scheduling gates hold its pod back, by others than us: a queue may have put them there';
  }
  const said = quoted(message.replace(REPEATED, ''));
  const fields = FIELDS.filter(([pattern]) => pattern.test(message)).map(([, field]) => field);
  const way = fields.length > 0 ? `; see ${fields.join(', ')}` : '';
  return `placement blocked: ${said === '' ? oneLine(reason) : said}${way}`;
}
