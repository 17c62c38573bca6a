import { outcome } from '../../test/k8s-outcome.js';
import { aJob, aPod, GOING, main, type PodParts, running, terminated, waiting } from '../../test/k8s-pods.js';
import { seenPod } from '../../test/k8s-seen.js';
import type { LogStanding } from './k8s.end.js';

type Row = [title: string, pod: PodParts, as: string, reason: RegExp];

const INFRA: Row[] = [
  ['nothing told of containers', { status: { phase: 'Failed' } }, 'infra ALLOCATION_LOST', /ended and never started/],
  [
    'devices that are not there',
    {
      status: {
        phase: 'Failed',
        reason: 'UnexpectedAdmissionError',
        message: 'Allocate failed due to no healthy devices present',
      },
    },
    'infra ALLOCATION_LOST',
    /UnexpectedAdmissionError.*Allocate failed/,
  ],
  [
    'memory that is not there',
    { status: { phase: 'Failed', reason: 'OutOfmemory' } },
    'infra ALLOCATION_LOST',
    /OutOfmemory/,
  ],
  [
    'a container that its node lost',
    {
      status: terminated(137, 'ContainerStatusUnknown', {
        startedAt: null,
        message: 'The container could not be located when the pod was deleted. The container used to be Running',
      }),
    },
    'infra ALLOCATION_LOST',
    /lost hold of its container, and exit code 137 says nothing of it/,
  ],
  [
    'never more than being made',
    { status: { ...waiting('ContainerCreating'), phase: 'Failed' } },
    'infra ALLOCATION_LOST',
    /never started: starting on node rack-1: ContainerCreating/,
  ],
  [
    'a start that failed for a moment',
    {
      status: terminated(128, 'StartError', {
        message: 'failed to create shim task: context deadline exceeded: unknown',
      }),
    },
    'infra ALLOCATION_LOST',
    /could not start it: .*deadline/,
  ],
  [
    'its time was over before it started',
    { status: { ...waiting('ContainerCreating'), phase: 'Failed', reason: 'DeadlineExceeded' } },
    'infra START_TIMEOUT',
    /all the time that its pod has: starting on node rack-1: ContainerCreating/,
  ],
  [
    'started again',
    {
      status: {
        phase: 'Running',
        ...main(
          { waiting: { reason: 'CrashLoopBackOff' } },
          { restartCount: 2, lastState: { terminated: { exitCode: 1 } } },
        ),
      },
    },
    'infra EVICTED',
    /started it 2 times more, which its pod forbids \(exit code 1\)/,
  ],
  [
    'an end that nobody saw',
    { status: running },
    'infra ALLOCATION_LOST',
    /ran on node rack-1, and its end was not seen/,
  ],
];

const FINAL: Row[] = [
  [
    'memory without a limit',
    { status: terminated(137, 'OOMKilled') },
    'config OOM_KILLED',
    /ran out of memory on node rack-1 \(exit code 137\): declare `resources.memoryMb`/,
  ],
  [
    'memory before it was deleted',
    { metadata: GOING, deleted: true, status: terminated(137, 'OOMKilled') },
    'config OOM_KILLED',
    /memory/,
  ],
  [
    'no shell in its image',
    {
      status: terminated(128, 'StartError', {
        message: 'exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown',
      }),
    },
    'harness TOOL_MISSING',
    /the image has no \/bin\/sh/,
  ],
  [
    'an older word for a command that is not there',
    { status: terminated(127, 'ContainerCannotRun', { message: 'exec: "agent": executable file not found in $PATH' }) },
    'harness COMMAND_NOT_FOUND',
    /agent/,
  ],
  [
    'its own container alone counts',
    {
      status: {
        phase: 'Failed',
        containerStatuses: [
          { name: 'proxy', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
          { name: 'main', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
        ],
      },
    },
    'agent ABORTED',
    /exit code 0$/,
  ],
];

test.each(INFRA)('%s is infra, and tried again', (_title, pod, as, reason) => {
  expect(outcome({ pod: aPod(pod) })).toEqual({ as, retried: true, reason: expect.stringMatching(reason) });
});

test.each(FINAL)('%s is final', (_title, pod, as, reason) => {
  expect(outcome({ pod: aPod(pod) })).toEqual({ as, retried: false, reason: expect.stringMatching(reason) });
});

test.each<[LogStanding, string | undefined, string, RegExp]>([
  [
    'gone',
    'the container runtime has thrown it away',
    'infra RESULT_LOST',
    /\(exit code 0\), and its log is gone: the container runtime.*`containerLogMaxSize`/,
  ],
  [
    'short',
    undefined,
    'infra RESULT_LOST',
    /\(exit code 0\), and not all of its log is there; .*`containerLogMaxSize`/,
  ],
  [
    'unreachable',
    'connection refused',
    'infra CLUSTER_UNREACHABLE',
    /\(exit code 0\), and its log cannot be reached: connection refused$/,
  ],
  ['unverified', undefined, 'infra RESULT_LOST', /\(exit code 0\), and its log may be short; .*`containerLogMaxSize`/],
])('K07 K29 a log that is %s, of one that ended by itself', (log, logText, as, reason) => {
  const ending = { pod: aPod({ status: terminated(0) }), log, ...(logText && { logText }) };
  expect(outcome(ending)).toMatchObject({ as, reason: expect.stringMatching(reason) });
});

test('evidence of why it ended counts more than what became of its log', () => {
  for (const log of ['gone', 'unverified'] as const) {
    expect(outcome({ pod: aPod({ status: terminated(137, 'OOMKilled') }), log }).as).toBe('config OOM_KILLED');
    expect(outcome({ pod: aPod({ metadata: GOING, status: terminated(0) }), log }).as).toBe('infra EVICTED');
    expect(outcome({ pod: seenPod('disk'), log }).as).toBe('agent ABORTED');
    expect(outcome({ pod: seenPod('poddeadline'), log }).as).toBe('infra RESULT_LOST');
  }
});

test('K09 what another pod of its Job did is not its end', () => {
  const lost = aPod({ status: { ...running, phase: 'Failed', reason: 'NodeLost' } });
  expect(
    outcome({ pod: lost, job: aJob({ status: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] } }) })
      .as,
  ).toBe('infra NODE_LOST');
});

test('what a cluster says is told on one line, and no more of it than is read', () => {
  const message = `\u001b[2J\u202e${'x'.repeat(9_000)}`;
  for (const status of [
    { phase: 'Failed', reason: 'Evicted', message },
    terminated(128, 'StartError', { message }),
    { phase: 'Failed', reason: message, message },
  ]) {
    expect(outcome({ pod: aPod({ status }) }).reason).toMatch(/^[^\p{Cc}\p{Cf}]{20,800}$/u);
  }
});
