import type { AttemptFailure } from '../../contracts/attempt.js';
import type { AllocationEvent } from '../backend.js';
import { oneLine } from '../cluster-text.js';
import {
  eventsOf,
  exitText,
  hasStarted,
  isOn,
  lastExit,
  lastOf,
  quoted,
  restartsOf,
  type TaskExit,
  tasksOf,
  textOf,
} from './nomad.evidence.js';
import type { JobAllocation } from './nomad.replies.js';
import { startFailureOf } from './nomad.start.js';

export type Standing = 'pending' | 'running' | 'ended';

/** How far an allocation is by its own word; that of its job says nothing. One that is unknown may be running. */
export function standingOf({ ClientStatus }: JobAllocation): Standing {
  if (ClientStatus === 'pending') return 'pending';
  return ['complete', 'failed', 'lost'].includes(ClientStatus) ? 'ended' : 'running';
}

/** Whether something of it may still run. */
export const mayRun = (allocation: JobAllocation): boolean => standingOf(allocation) !== 'ended';

export interface Choice {
  /** Absent: there is none, or no longer. */
  allocation?: JobAllocation;
  /** Duplicates and replacements: nothing of theirs counts. */
  others: JobAllocation[];
}

/** The allocation that the verdict belongs to: the one that was seen first, else the first that was made. */
export function chooseAllocation(allocations: readonly JobAllocation[], placedAs: string | undefined): Choice {
  const byAge = [...allocations].sort((a, b) => a.CreateIndex - b.CreateIndex);
  const allocation = placedAs === undefined ? byAge[0] : byAge.find(({ ID }) => ID === placedAs);
  return { ...(allocation && { allocation }), others: byAge.filter((other) => other !== allocation) };
}

/** What is known of where an allocation runs, and of what should not have happened to it. */
export function provenanceOf({ allocation, others }: { allocation: JobAllocation; others: readonly JobAllocation[] }) {
  const anomalies = anomaliesOf(allocation, others);
  return {
    node: oneLine(allocation.NodeName),
    nodeId: oneLine(allocation.NodeID),
    allocation: oneLine(allocation.ID),
    ...(anomalies.length > 0 && { anomalies }),
  };
}

function anomaliesOf(allocation: JobAllocation, others: readonly JobAllocation[]): string[] {
  const restarts = restartsOf(allocation);
  const anomalies: string[] = [];
  if (restarts > 0) anomalies.push(restartText(restarts));
  for (const { ID, ClientStatus } of others.slice(0, 3)) {
    anomalies.push(`Nomad made another allocation of it, ${oneLine(ID)} (${oneLine(ClientStatus)}): it does not count`);
  }
  return anomalies;
}

const restartText = (restarts: number): string =>
  `Nomad started it ${restarts === 1 ? 'once' : `${restarts} times`} more, which its job forbids`;

/** What became of the log of an allocation that ended. */
export type LogStanding = 'complete' | 'short' | 'gone' | 'unreachable';

export interface Ending {
  allocation: JobAllocation;
  log: LogStanding;
  /** What reading the log said last. */
  logText?: string;
  /** Its job was deregistered. */
  isJobStopped?: boolean;
  /** Cases that its runtime runs at once. */
  maxConcurrent: number;
  driver: string;
}

export type End = Extract<AllocationEvent, { kind: 'failed' | 'silent' }>;

/**
 * How an allocation without a record ended. First that applies:
 * 1. its node was lost, or disconnected: it may be said to be complete, and killed, all the same,
 * 2. memory ran out by the driver's word; an exit code alone says nothing of it,
 * 3. it never started, by an event that says why,
 * 4. it was preempted, drained or stopped by others, or replaced,
 * 5. it never started, and nothing says why,
 * 6. its client lost it: the executor died, or it could not be restored,
 * 7. it filled its disk,
 * 8. Nomad killed it, or started it more often than its job allows,
 * 9. it ended by itself, and the log is not all there,
 * 10. it ended by itself.
 * Ten events of a task are kept: one that is missing is evidence of nothing.
 */
export function endOf(ending: Ending): End {
  const { allocation } = ending;
  const exit = lastExit(allocation);
  const failure =
    nodeLoss(allocation) ??
    oom(allocation, exit) ??
    startFailureOf(allocation) ??
    removal(ending) ??
    neverStarted(allocation) ??
    clientLoss(allocation, exit) ??
    diskFull(allocation) ??
    kill(allocation) ??
    logLoss(ending, exit);
  if (failure) return { kind: 'failed', failure };
  return { kind: 'silent', detail: `${exitText(exit)}${oomHint(ending, exit)}` };
}

const fail = (code: AttemptFailure['code'], message: string): AttemptFailure => ({ code, message });

/** With what is known of how the process ended. */
const withExit = (text: string, allocation: JobAllocation): string => {
  const exit = lastExit(allocation);
  return exit ? `${text} (${exitText(exit)})` : text;
};

function nodeLoss(allocation: JobAllocation): AttemptFailure | undefined {
  const { ClientStatus, DesiredDescription } = allocation;
  const where = isOn(allocation);
  if (ClientStatus === 'lost' || /\blost since its node is down/.test(DesiredDescription)) {
    return fail(
      'NODE_LOST',
      withExit(`${where} went down: ${quoted(DesiredDescription) || 'the allocation is lost'}`, allocation),
    );
  }
  if (ClientStatus === 'unknown' || /disconnected/.test(DesiredDescription)) {
    return fail(
      'NODE_LOST',
      withExit(`${where} is disconnected: ${quoted(DesiredDescription) || 'the allocation is unknown'}`, allocation),
    );
  }
  return undefined;
}

function oom(allocation: JobAllocation, exit: TaskExit | undefined): AttemptFailure | undefined {
  if (!exit?.isOom) return undefined;
  return fail(
    'OOM_KILLED',
    `it needed more memory than it may have on ${isOn(allocation)} (${exitText(exit)}): raise \`resources.memoryMb\``,
  );
}

function removal({ allocation, isJobStopped = false }: Ending): AttemptFailure | undefined {
  const { PreemptedByAllocation, DesiredStatus, DesiredDescription: why } = allocation;
  const evicted = (text: string) => {
    const never = hasStarted(allocation) ? '' : ' before it ever started';
    return fail('EVICTED', withExit(`${text}${never}${why && `: ${quoted(why)}`}`, allocation));
  };
  if (PreemptedByAllocation !== '' || DesiredStatus === 'evict' || /^Preempted/i.test(why)) {
    return evicted(`it was preempted${PreemptedByAllocation && ` by allocation ${oneLine(PreemptedByAllocation)}`}`);
  }
  if (DesiredStatus !== 'stop' && !isJobStopped) return undefined;
  if (/rescheduled/.test(why)) return evicted('Nomad replaced it, which its job forbids');
  if (/migrated|tainted/.test(why)) return evicted(`${isOn(allocation)} was drained, or the allocation stopped`);
  if (/updated due to job update/.test(why)) return evicted('its job was changed in Nomad');
  if (!hasStarted(allocation)) return undefined;
  return evicted('it was stopped in Nomad');
}

function neverStarted(allocation: JobAllocation): AttemptFailure | undefined {
  if (hasStarted(allocation)) return undefined;
  const why = quoted(allocation.DesiredDescription || allocation.ClientDescription);
  return fail('ALLOCATION_LOST', `it never started on ${isOn(allocation)}, and was ended${why && `: ${why}`}`);
}

function clientLoss(allocation: JobAllocation, exit: TaskExit | undefined): AttemptFailure | undefined {
  const where = isOn(allocation);
  const restore = lastOf(allocation, 'Failed Restoring Task');
  if (restore)
    return fail('ALLOCATION_LOST', `the client of ${where} restarted and lost it: ${quoted(textOf(restore))}`);
  const hasFailed = tasksOf(allocation).some(({ Failed }) => Failed);
  const message = exit?.message ?? '';
  const isContradiction = hasFailed && exit?.code === 0 && exit.signal === undefined && message !== '';
  if (!isContradiction && !/executor: error waiting on process/.test(message)) return undefined;
  return fail(
    'ALLOCATION_LOST',
    `${where} lost the process that ran it, so its exit code says nothing: ${quoted(message)}`,
  );
}

function diskFull(allocation: JobAllocation): AttemptFailure | undefined {
  const full = lastOf(allocation, 'Disk Resources Exceeded');
  return full && fail('ABORTED', `it wrote more to its disk than it may: ${quoted(textOf(full))}`);
}

function kill(allocation: JobAllocation): AttemptFailure | undefined {
  const events = eventsOf(allocation);
  const end = events.findLastIndex(({ Type }) => Type === 'Terminated');
  const killing = events.slice(0, end < 0 ? undefined : end).findLast(({ Type }) => Type === 'Killing');
  if (killing) return fail('EVICTED', withExit(`Nomad killed it: ${quoted(textOf(killing))}`, allocation));
  const restarts = restartsOf(allocation);
  return restarts > 0 ? fail('EVICTED', withExit(restartText(restarts), allocation)) : undefined;
}

function logLoss({ allocation, log, logText = '', maxConcurrent }: Ending, exit: TaskExit | undefined) {
  const said = logText && `: ${quoted(logText)}`;
  const ended = `it ended on ${isOn(allocation)} (${exitText(exit)})`;
  switch (log) {
    case 'complete':
      return undefined;
    case 'unreachable':
      return fail('CLUSTER_UNREACHABLE', `${ended}, and its log could not be reached${said}`);
    case 'short':
      return fail('RESULT_LOST', `${ended}, and its log was cut before its result${said}; ${gcAdvice(maxConcurrent)}`);
    case 'gone':
      return fail('RESULT_LOST', `${ended}, and its log is gone${said}; ${gcAdvice(maxConcurrent)}`);
  }
}

/** Running allocations count, and as many again may have just ended; the rest is for what others run there. */
export const gcAdvice = (maxConcurrent: number): string =>
  `clients throw away what ended once they hold \`client.gc_max_allocs\` allocations, running ones counted: set it to at least ${2 * maxConcurrent + 50} (twice the ${maxConcurrent} cases at once, and 50 for others)`;

const KILL_SIGNAL = 9;

function oomHint({ driver }: Ending, exit: TaskExit | undefined): string {
  const isKilled = exit?.signal === KILL_SIGNAL || exit?.code === 128 + KILL_SIGNAL;
  return isKilled && driver === 'exec' ? ' (the exec driver may not tell that memory ran out)' : '';
}
