import { verdictOf } from '../../policy/results.js';
import { nextStep } from '../../policy/retry.js';
import { anAllocation, ended, event, pullFailed, STARTED, terminated } from '../../test/nomad-allocations.js';
import { type Ending, endOf, type LogStanding } from './nomad.end.js';
import type { JobAllocation } from './nomad.replies.js';

const end = (allocation: JobAllocation, more: Partial<Ending> = {}) =>
  endOf({ allocation, log: 'complete', maxConcurrent: 20, driver: 'docker', ...more });

const stopped = (DesiredDescription: string, more: object = {}) => ({
  DesiredStatus: 'stop',
  DesiredDescription,
  ...more,
});

/** What a run of it comes to. */
const outcome = (allocation: JobAllocation, more: Partial<Ending> = {}) => {
  const limits = { graders: [], timeoutSec: 60, setupSec: 60, graderSec: 60 };
  const verdict = verdictOf({ end: end(allocation, more), ...limits });
  if (verdict.outcome !== 'errored') throw new Error(`it is ${verdict.outcome}`);
  const { errorClass, errorCode, reason } = verdict;
  return { as: `${errorClass} ${errorCode}`, retried: nextStep(verdict, 1, 1).kind === 'retry', reason };
};

type Row = [title: string, allocation: JobAllocation, as: string, reason: RegExp];

const INFRA: Row[] = [
  [
    'N19 a node that was lost and came back, its task killed',
    anAllocation(
      stopped('alloc is lost since its node is down'),
      STARTED,
      event('Killing', 'Sent interrupt. Waiting 5s before force killing'),
      terminated('137', { signal: '9' }),
      event('Killed', 'Task successfully killed'),
    ),
    'infra NODE_LOST',
    /node rack-1 was lost: alloc is lost since its node is down \(exit code 137, signal 9\)/,
  ],
  ['N03 a node that is lost', anAllocation({ ClientStatus: 'lost' }, STARTED), 'infra NODE_LOST', /was lost/],
  [
    'N19 a node that is lost, the task still said to run',
    anAllocation(stopped('alloc is lost since its node is down', { ClientStatus: 'lost' }), STARTED),
    'infra NODE_LOST',
    /node rack-1/,
  ],
  [
    'a node that is disconnected',
    anAllocation(
      { ClientStatus: 'unknown', DesiredDescription: 'alloc is unknown since its node is disconnected' },
      STARTED,
    ),
    'infra NODE_LOST',
    /disconnected/,
  ],
  [
    'a node that reconnected, and another allocation was kept',
    ended('143', stopped('alloc not needed due to disconnected client reconnect')),
    'infra NODE_LOST',
    /disconnected.* \(exit code 143\)/,
  ],
  ['a drain', ended('137', stopped('alloc is being migrated')), 'infra EVICTED', /drained, or the allocation stopped/],
  [
    'a tainted node',
    ended('0', stopped('alloc not needed as node is tainted')),
    'infra EVICTED',
    /drained.* \(exit code 0\)/,
  ],
  [
    'a preemption',
    ended('137', stopped('Preempted by alloc ID 7f', { DesiredStatus: 'evict', PreemptedByAllocation: '7f' })),
    'infra EVICTED',
    /preempted by allocation 7f/,
  ],
  ['a replacement', ended('1', stopped('alloc was rescheduled because it failed')), 'infra EVICTED', /replaced it/],
  [
    'a changed job',
    ended('0', stopped('alloc is being updated due to job update')),
    'infra EVICTED',
    /job was changed/,
  ],
  [
    'a stopped job',
    ended('0', stopped('alloc not needed due to job update')),
    'infra EVICTED',
    /stopped in Nomad.*exit code 0/,
  ],
  ['a stop with words of its own', ended('9', stopped('new words')), 'infra EVICTED', /stopped in Nomad: new words/],
  [
    'N31 one that was stopped before it ever ran',
    anAllocation(stopped('alloc not needed due to job update')),
    'infra ALLOCATION_LOST',
    /never started: alloc not needed due to job update/,
  ],
  ['N31 one without a word of why', anAllocation({ TaskStates: {} }), 'infra ALLOCATION_LOST', /never started$/],
  [
    'N31 one that was received, and no more',
    anAllocation(stopped('alloc not needed due to job update'), event('Received', 'Task received by client')),
    'infra ALLOCATION_LOST',
    /never started/,
  ],
  [
    'one that was preempted before it started',
    anAllocation(stopped('', { PreemptedByAllocation: '7f' })),
    'infra EVICTED',
    /7f before it ever started/,
  ],
  [
    'a dead executor, its exit code 0',
    ended('0', {}, { exit_message: 'executor: error waiting on process: rpc error: code = Unavailable desc = EOF' }),
    'infra ALLOCATION_LOST',
    /lost hold of its process.*executor: error waiting on process/,
  ],
  [
    'a failure of exit code 0',
    anAllocation({
      ClientStatus: 'failed',
      TaskStates: {
        t: { State: 'dead', Failed: true, Events: [STARTED, terminated('0', { exit_message: 'who knows' })] },
      },
    }),
    'infra ALLOCATION_LOST',
    /says nothing of it: who knows/,
  ],
  [
    'a client that restarted',
    anAllocation(
      { ClientStatus: 'failed' },
      STARTED,
      event('Failed Restoring Task', 'failed to restore task; will not run'),
    ),
    'infra ALLOCATION_LOST',
    /client of node rack-1 restarted/,
  ],
  [
    'a kill of somebody else',
    anAllocation({}, STARTED, event('Killing', 'Sent interrupt'), terminated('130'), event('Killed')),
    'infra EVICTED',
    /somebody had Nomad kill it: Sent interrupt \(exit code 130\)/,
  ],
  [
    'a signal of somebody else',
    anAllocation({}, STARTED, event('Signaling', 'SIGTERM'), terminated('143')),
    'infra EVICTED',
    /SIGTERM/,
  ],
  [
    'N21 one that Nomad started again',
    anAllocation({
      ClientStatus: 'failed',
      TaskStates: {
        case: {
          State: 'dead',
          Failed: true,
          Restarts: 3,
          StartedAt: '2026-01-01T00:00:00Z',
          Events: [terminated('1')],
        },
      },
    }),
    'infra EVICTED',
    /started it 3 times more, which its job forbids \(exit code 1\)/,
  ],
];

const FINAL: Row[] = [
  [
    'D33 memory ran out, told by a text alone',
    anAllocation({ ClientStatus: 'failed' }, STARTED, { Type: 'Terminated', ExitCode: 137, Message: 'OOM Killed' }),
    'config OOM_KILLED',
    /exit code 137/,
  ],
  [
    'an image whose name speaks of memory',
    anAllocation({ ClientStatus: 'failed' }, pullFailed('unauthorized', 'r/oom:1')),
    'config IMAGE_UNAVAILABLE',
    /oom/,
  ],
  [
    'D33 the driver says that memory ran out',
    ended('137', { ClientStatus: 'failed' }, { oom_killed: 'true' }),
    'config OOM_KILLED',
    /raise `resources.memoryMb`/,
  ],
  [
    'D33 the message says that memory ran out',
    ended('137', {}, { exit_message: 'OOM Killed' }),
    'config OOM_KILLED',
    /raise `resources.memoryMb`/,
  ],
  [
    'D33 memory ran out, and the exit code is 0',
    ended('0', {}, { oom_killed: 'true' }),
    'config OOM_KILLED',
    /exit code 0/,
  ],
  [
    'D33 memory ran out before it was stopped',
    ended('137', stopped('alloc not needed due to job update'), { oom_killed: 'true' }),
    'config OOM_KILLED',
    /memory/,
  ],
  [
    'D33 a kill alone',
    ended('137', { ClientStatus: 'failed' }, { signal: '9' }),
    'agent ABORTED',
    /exit code 137, signal 9; if it ran out of memory, raise `resources.memoryMb`/,
  ],
  [
    'a kill alone, by a driver that may not tell',
    ended('137', {}, { signal: '9' }),
    'agent ABORTED',
    /exec driver may not tell.*raise `resources.memoryMb`/,
  ],
  ['G67 an end like others', ended('3', { ClientStatus: 'failed' }), 'agent ABORTED', /exit code 3$/],
  [
    'an end whose event is no longer kept',
    anAllocation({ TaskStates: { t: { StartedAt: '2026-01-01T00:00:00Z' } } }),
    'agent ABORTED',
    /exit code is not known/,
  ],
  [
    'what came after its end did not end it',
    anAllocation({}, STARTED, terminated('1'), event('Not Restarting'), event('Killing')),
    'agent ABORTED',
    /exit code 1$/,
  ],
  [
    'a full disk',
    anAllocation(
      {},
      STARTED,
      event('Disk Resources Exceeded', 'Disk resources exceeded'),
      event('Killing'),
      terminated('137'),
    ),
    'agent ABORTED',
    /more than its disk/,
  ],
  [
    'N11 an image that its registry keeps',
    anAllocation({ ClientStatus: 'failed' }, pullFailed('unauthorized')),
    'config IMAGE_UNAVAILABLE',
    /r\/x:1.*unauthorized/,
  ],
];

const driverOf = (title: string) => (/may not tell/.test(title) ? { driver: 'exec' } : {});

test.each(INFRA)('%s is infra, and tried again', (_title, allocation, as, reason) => {
  expect(outcome(allocation)).toEqual({ as, retried: true, reason: expect.stringMatching(reason) });
});

test.each(FINAL)('%s is final', (title, allocation, as, reason) => {
  expect(outcome(allocation, driverOf(title))).toEqual({ as, retried: false, reason: expect.stringMatching(reason) });
});

const LOGS: [LogStanding, string | undefined, string, RegExp][] = [
  [
    'gone',
    'its log was collected',
    'infra RESULT_LOST',
    /\(exit code 0\).*: its log was collected;.*`client.gc_max_allocs`.* 90 or more/,
  ],
  ['short', undefined, 'infra RESULT_LOST', /\(exit code 0\).*not all of its log.*`client.gc_max_allocs`.* 90 or more/],
  [
    'unreachable',
    'no way to its node',
    'infra CLUSTER_UNREACHABLE',
    /\(exit code 0\).*cannot be reached: no way to its node$/,
  ],
  ['unverified', undefined, 'agent ABORTED', /exit code 0; nothing tells how long its log is: .*`read-fs`/],
];

test.each(LOGS)('N01 N07 a log that is %s, of one that ended by itself', (log, logText, as, reason) => {
  expect(outcome(ended('0'), { log, ...(logText && { logText }) })).toMatchObject({
    as,
    reason: expect.stringMatching(reason),
  });
});

test('what Nomad forgot while it ran has no end of its own', () => {
  const forgotten = anAllocation({ ClientStatus: 'running' }, STARTED);
  expect(outcome(forgotten)).toMatchObject({ as: 'infra ALLOCATION_LOST', reason: expect.stringMatching(/no more/) });
  expect(outcome(forgotten, { log: 'gone' })).toMatchObject({
    as: 'infra RESULT_LOST',
    reason: expect.stringMatching(/^it ran on node rack-1, and its log is gone/),
  });
});

test('evidence of why it ended counts more than what became of its log', () => {
  expect(outcome(anAllocation({ ClientStatus: 'lost' }, STARTED), { log: 'gone' }).as).toBe('infra NODE_LOST');
  expect(outcome(ended('137', {}, { oom_killed: 'true' }), { log: 'gone' }).as).toBe('config OOM_KILLED');
});
