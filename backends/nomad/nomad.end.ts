import type { AttemptFailure } from '../../contracts/attempt.js';
import type { AllocationEvent } from '../backend.js';
import { because, oneLine } from '../cluster-text.js';
import {
  eventsOf,
  exitText,
  hasStarted,
  isOn,
  isOutOfMemory,
  lastExit,
  lastOf,
  restartsOf,
  type TaskExit,
  tasksOf,
  textOf,
} from './nomad.evidence.js';
import type { JobAllocation } from './nomad.replies.js';
import { startFailureOf } from './nomad.start.js';
import { mayRun, restartText } from './nomad.status.js';

/**
 * What became of the log of an allocation that ended. `unverified`: read to its end, and nothing says how long it is, as
 * to a token that may not list files.
 */
export type LogStanding = 'complete' | 'unverified' | 'short' | 'gone' | 'unreachable';

export interface Ending {
  allocation: JobAllocation;
  log: LogStanding;
  /** What reading the log said last, in our words. */
  logText?: string;
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
 * 4. it was preempted, drained, replaced, or stopped by others,
 * 5. it never started, and nothing says why,
 * 6. its client lost it: the executor died, or it could not be restored,
 * 7. it filled its disk,
 * 8. Nomad killed it, or started it more often than its job allows,
 * 9. its log is not all there,
 * 10. Nomad forgot it before its end was seen,
 * 11. it ended by itself.
 * Ten events of a task are kept: one that is missing is evidence of nothing.
 */
export function endOf(ending: Ending): End {
  const { allocation } = ending;
  const exit = lastExit(allocation);
  const failure =
    nodeLoss(allocation) ??
    oom(allocation, exit) ??
    startFailureOf(allocation) ??
    removal(allocation) ??
    neverStarted(allocation) ??
    clientLoss(allocation, exit) ??
    diskFull(allocation) ??
    kill(allocation) ??
    logLoss(ending, exit) ??
    forgotten(allocation);
  if (failure) return { kind: 'failed', failure };
  return { kind: 'silent', detail: `${exitText(exit)}${hints(ending, exit)}` };
}

const fail = (code: AttemptFailure['code'], message: string): AttemptFailure => ({ code, message });

/** With what is known of how its process ended. */
const withExit = (text: string, allocation: JobAllocation): string => {
  const exit = lastExit(allocation);
  return exit ? `${text} (${exitText(exit)})` : text;
};

function nodeLoss(allocation: JobAllocation): AttemptFailure | undefined {
  const { ClientStatus, DesiredDescription: why } = allocation;
  const where = isOn(allocation);
  if (ClientStatus === 'lost' || /\blost since its node is down/.test(why)) {
    return fail('NODE_LOST', withExit(`${where} was lost${because(why)}`, allocation));
  }
  if (ClientStatus === 'unknown' || /disconnected/.test(why)) {
    return fail('NODE_LOST', withExit(`${where} was lost: it is disconnected${because(why)}`, allocation));
  }
  return undefined;
}

function oom(allocation: JobAllocation, exit: TaskExit | undefined): AttemptFailure | undefined {
  if (!isOutOfMemory(allocation)) return undefined;
  const text = `it ran out of the memory that it may have on ${isOn(allocation)} (${exitText(exit)})`;
  return fail('OOM_KILLED', `${text}: raise \`resources.memoryMb\``);
}

function removal(allocation: JobAllocation): AttemptFailure | undefined {
  const { PreemptedByAllocation: by, DesiredStatus, DesiredDescription: why } = allocation;
  const evicted = (text: string) => {
    const never = hasStarted(allocation) ? '' : ' before it ever started';
    return fail('EVICTED', withExit(`${text}${never}${because(why)}`, allocation));
  };
  if (by !== '' || DesiredStatus === 'evict' || /^preempted/i.test(why)) {
    return evicted(`it was preempted${by && ` by allocation ${oneLine(by)}`}`);
  }
  if (DesiredStatus !== 'stop') return undefined;
  if (/rescheduled/.test(why)) return evicted('Nomad replaced it, which its job forbids');
  if (/migrated|tainted/.test(why)) return evicted(`${isOn(allocation)} was drained, or the allocation stopped`);
  if (/being updated/.test(why)) return evicted('its job was changed in Nomad');
  return hasStarted(allocation) ? evicted('it was stopped in Nomad') : undefined;
}

function neverStarted(allocation: JobAllocation): AttemptFailure | undefined {
  if (hasStarted(allocation)) return undefined;
  const why = allocation.DesiredDescription || allocation.ClientDescription;
  return fail('ALLOCATION_LOST', `it was ended on ${isOn(allocation)} and never started${because(why)}`);
}

/** What a driver says that no longer knows its process. */
const LOST_PROCESS =
  /error waiting on process|failed to wait|rpc error|plugin .{0,40}(shut ?down|exited)|transport is closing/i;

function clientLoss(allocation: JobAllocation, exit: TaskExit | undefined): AttemptFailure | undefined {
  const where = isOn(allocation);
  const restore = lastOf(allocation, 'Failed Restoring Task');
  if (restore) {
    return fail('ALLOCATION_LOST', `the client of ${where} restarted and lost it${because(textOf(restore))}`);
  }
  const { message = '', code, signal } = exit ?? {};
  const hasFailed = tasksOf(allocation).some(({ Failed }) => Failed);
  const isContradiction = hasFailed && code === 0 && signal === undefined && message !== '';
  if (!isContradiction && !LOST_PROCESS.test(message)) return undefined;
  const text = `${where} lost hold of its process, and ${exitText(exit)} says nothing of it`;
  return fail('ALLOCATION_LOST', `${text}${because(message)}`);
}

function diskFull(allocation: JobAllocation): AttemptFailure | undefined {
  const full = lastOf(allocation, 'Disk Resources Exceeded');
  return full && fail('ABORTED', withExit(`it wrote more than its disk may hold${because(textOf(full))}`, allocation));
}

/** What others do to a task. What follows its end did not end it. */
const KILLS: ReadonlySet<string> = new Set(['Killing', 'Killed', 'Signaling', 'Restart Signaled']);

function kill(allocation: JobAllocation): AttemptFailure | undefined {
  const events = eventsOf(allocation);
  const end = events.findIndex(({ Type }) => Type === 'Terminated');
  const killing = events.find(({ Type }, at) => KILLS.has(Type) && (end < 0 || at < end || Type === 'Killed'));
  if (killing) return fail('EVICTED', withExit(`somebody had Nomad kill it${because(textOf(killing))}`, allocation));
  const restarts = restartsOf(allocation);
  return restarts > 0 ? fail('EVICTED', withExit(restartText(restarts), allocation)) : undefined;
}

function logLoss({ allocation, log, logText = '', maxConcurrent }: Ending, exit: TaskExit | undefined) {
  const where = isOn(allocation);
  const ended = mayRun(allocation) ? `it ran on ${where}` : `it ended on ${where} (${exitText(exit)})`;
  switch (log) {
    case 'complete':
    case 'unverified':
      return undefined;
    case 'unreachable':
      return fail('CLUSTER_UNREACHABLE', `${ended}, and its log cannot be reached${because(logText)}`);
    case 'short':
      return fail(
        'RESULT_LOST',
        `${ended}, and not all of its log is there${because(logText)}; ${gcAdvice(maxConcurrent)}`,
      );
    case 'gone':
      return fail('RESULT_LOST', `${ended}, and its log is gone${because(logText)}; ${gcAdvice(maxConcurrent)}`);
  }
}

function forgotten(allocation: JobAllocation): AttemptFailure | undefined {
  if (!mayRun(allocation)) return undefined;
  return fail('ALLOCATION_LOST', `it ran on ${isOn(allocation)}, and Nomad knows it no more: its end was not seen`);
}

/** As many again as run may just have ended; the rest is for what others run there. */
export function gcAdvice(maxConcurrent: number): string {
  const least = 2 * maxConcurrent + 50;
  return `clients throw away what ended once they hold \`client.gc_max_allocs\` allocations, running ones counted: set it to ${least} or more (twice the ${maxConcurrent} cases at once, and 50 for others)`;
}

const SIGKILL = 9;

function hints({ log, driver }: Ending, exit: TaskExit | undefined): string {
  const isKilled = exit?.signal === SIGKILL || exit?.code === 128 + SIGKILL;
  const untold = isKilled && driver === 'exec' ? ' (the exec driver may not tell that memory ran out)' : '';
  const unverified =
    log === 'unverified' ? '; nothing tells how long its log is: the ACL token may lack `read-fs`' : '';
  return untold + unverified;
}
