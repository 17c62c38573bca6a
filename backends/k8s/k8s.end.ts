import type { AttemptFailure } from '../../contracts/attempt.js';
import type { AllocationEvent } from '../backend.js';
import { because, oneLine, quoted } from '../cluster-text.js';
import { eventsOf, lastOf } from './k8s.events.js';
import {
  conditionOf,
  exitNote,
  exitOf,
  exitText,
  hasStarted,
  isOn,
  isOutOfMemory,
  isRemoved,
  restartsOf,
} from './k8s.evidence.js';
import { type Gone, goneOf } from './k8s.gone.js';
import { K8S_CONTAINER } from './k8s.names.js';
import { diskFull, eviction, removal, stopped } from './k8s.removal.js';
import type { SeenPod } from './k8s.replies.js';
import { initFailureOf, startFailureOf, startProgressOf } from './k8s.start.js';
import { mayRun, restartText } from './k8s.status.js';

/**
 * What became of the log of a pod that ended. `unverified`: read to its end, and some of it may have been thrown away
 * before it was read.
 */
export type LogStanding = 'complete' | 'unverified' | 'short' | 'gone' | 'unreachable';

export interface Ending extends Gone {
  /** Absent: it is gone. */
  pod?: SeenPod;
  log: LogStanding;
  /** What reading the log said last, in our words. */
  logText?: string;
}

export type End = Extract<AllocationEvent, { kind: 'failed' | 'silent' }>;

/**
 * How a pod without a record ended. Its phase, its exit code and its Job say nothing of success: what answers TERM with 0
 * makes its Job complete. First that applies:
 * 1. its node was lost, restarted under it, or no longer does as it is told,
 * 2. memory ran out in its container, by the word of its node; an exit code alone says nothing of it,
 * 3. it could not be started, and its node says why,
 * 4. its node would not take it, though the scheduler had placed it there, or let it run no longer,
 * 5. it filled its disk, which is its own doing,
 * 6. it was evicted, preempted, or ended with its node,
 * 7. its Job removed it: deleted, suspended, or with a time limit of others,
 * 8. it was deleted by others,
 * 9. its node lost hold of its container, or started it more often than its pod allows,
 * 10. it never started: what comes before it failed, or nothing says why,
 * 11. its node was told to stop it, and nothing else says by whom,
 * 12. its log is not all there, or nothing proves that it is,
 * 13. it outlived all the time that its pod has,
 * 14. its end was not seen,
 * 15. it ended by itself.
 */
export function endOf(ending: Ending): End {
  const { pod } = ending;
  if (!pod) return { kind: 'failed', failure: goneOf(ending) };
  const known = { ...ending, pod };
  const failure =
    nodeLoss(known) ??
    oom(pod) ??
    startFailureOf(pod, ending.events) ??
    refusal(pod) ??
    diskFull(pod, ending.events) ??
    eviction(pod, ending.events) ??
    removal(pod, ending.job, ending.events) ??
    containerLoss(pod) ??
    neverStarted(known) ??
    (isOverdue(pod) ? undefined : stopped(pod, ending.events)) ??
    logLoss(known) ??
    deadline(pod) ??
    unseen(pod);
  return failure ? { kind: 'failed', failure } : { kind: 'silent', detail: exitText(exitOf(pod)) };
}

type Known = Ending & { pod: SeenPod };

const fail = (code: AttemptFailure['code'], message: string): AttemptFailure => ({ code, message });

function nodeLoss({ pod, events = [], log }: Known): AttemptFailure | undefined {
  const lost = (how: string, why?: string) => fail('NODE_LOST', `${isOn(pod)} ${how}${exitNote(pod)}${because(why)}`);
  const { reason, message } = pod.status;
  if (reason === 'NodeLost') return lost('was lost', message);
  // A node that found the container dead when it came back.
  if (exitOf(pod)?.reason === 'Unknown') return lost('restarted under it');
  const disruption = conditionOf(pod, 'DisruptionTarget');
  if (disruption?.reason === 'DeletionByPodGC') return lost('was lost', disruption.message);
  if (!hasStarted(pod) || exitOf(pod)) return undefined;
  if (isRemoved(pod) && !pod.deleted) return lost('was lost: it does not end what is to go', disruption?.message);
  const isNotReady = isMarkedNotReady(pod) || lastOf(eventsOf(events, pod.metadata), 'NodeNotReady') !== undefined;
  return isNotReady && log !== 'complete' ? lost('was lost: it is not ready, and tells nothing of it') : undefined;
}

/** Kubernetes says so of what runs on a node that is silent; a node that speaks gives a reason. */
const isMarkedNotReady = (pod: SeenPod): boolean => {
  const notReady = conditionOf(pod, 'Ready', 'False');
  return notReady !== undefined && !notReady.reason;
};

function oom(pod: SeenPod): AttemptFailure | undefined {
  if (!isOutOfMemory(pod)) return undefined;
  const limit = pod.spec.containers.find(({ name }) => name === K8S_CONTAINER)?.resources.limits.memory;
  const [what, way] =
    limit === undefined ? ['memory', 'declare'] : [`the ${oneLine(limit)} of memory that it may have`, 'raise'];
  return fail('OOM_KILLED', `it ran out of ${what} on ${isOn(pod)}${exitNote(pod)}: ${way} \`resources.memoryMb\``);
}

/** Reasons that have words of their own. */
const TOLD: ReadonlySet<string> = new Set([
  'Evicted',
  'Preempting',
  'Terminated',
  'Shutdown',
  'NodeShutdown',
  'DeadlineExceeded',
]);

function refusal(pod: SeenPod): AttemptFailure | undefined {
  const { phase, reason = '', message } = pod.status;
  if (phase !== 'Failed' || reason === '' || TOLD.has(reason)) return undefined;
  const why = `: ${oneLine(reason)}${because(message)}`;
  if (hasStarted(pod)) return fail('EVICTED', `${isOn(pod)} let it run no longer${exitNote(pod)}${why}`);
  return fail('ALLOCATION_LOST', `${isOn(pod)} did not take it, though it was placed there${why}`);
}

function neverStarted({ pod, events }: Known): AttemptFailure | undefined {
  if (hasStarted(pod)) return undefined;
  const progress = startProgressOf(pod, events);
  if (isOverdue(pod)) return fail('START_TIMEOUT', `not started in all the time that its pod has: ${progress}`);
  return (
    initFailureOf(pod) ??
    fail('ALLOCATION_LOST', `it ended and never started: ${pod.status.message ? quoted(pod.status.message) : progress}`)
  );
}

function containerLoss(pod: SeenPod): AttemptFailure | undefined {
  const exit = exitOf(pod);
  if (exit?.reason === 'ContainerStatusUnknown') {
    const text = `${isOn(pod)} lost hold of its container, and ${exitText(exit)} says nothing of it`;
    return fail('ALLOCATION_LOST', `${text}${because(exit.message)}`);
  }
  const restarts = restartsOf(pod);
  return restarts > 0 ? fail('EVICTED', `${restartText(restarts)}${exitNote(pod)}`) : undefined;
}

const LOG_ADVICE =
  'nodes keep as much of a log as `containerLogMaxSize` and `containerLogMaxFiles` of their kubelets say, for as long as its pod is there';

function logLoss({ pod, log, logText }: Known): AttemptFailure | undefined {
  const where = isOn(pod);
  const how = mayRun(pod) ? `it ran on ${where}` : `it ended on ${where}${exitNote(pod)}`;
  switch (log) {
    case 'complete':
      return undefined;
    case 'unverified':
      return fail('RESULT_LOST', `${how}, and its log may be short${because(logText)}; ${LOG_ADVICE}`);
    case 'unreachable':
      return fail('CLUSTER_UNREACHABLE', `${how}, and its log cannot be reached${because(logText)}`);
    case 'short':
      return fail('RESULT_LOST', `${how}, and not all of its log is there${because(logText)}; ${LOG_ADVICE}`);
    case 'gone':
      return fail('RESULT_LOST', `${how}, and its log is gone${because(logText)}; ${LOG_ADVICE}`);
  }
}

const isOverdue = ({ status }: SeenPod): boolean => status.reason === 'DeadlineExceeded';

function deadline(pod: SeenPod): AttemptFailure | undefined {
  if (!isOverdue(pod)) return undefined;
  const { startedAt = '', finishedAt = '' } = exitOf(pod) ?? {};
  const ranMs = Date.parse(finishedAt) - Date.parse(startedAt);
  const measured = Number.isNaN(ranMs) ? '' : ` after ${ranMs / 1_000} s`;
  return fail(
    'TIMEOUT',
    `it went on without a result until all the time that its pod has was over${measured}${exitNote(pod)}`,
  );
}

function unseen(pod: SeenPod): AttemptFailure | undefined {
  if (exitOf(pod)) return undefined;
  return fail('ALLOCATION_LOST', `it ran on ${isOn(pod)}, and its end was not seen`);
}
