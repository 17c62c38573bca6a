import { verdictOf } from '../../policy/results.js';
import { nextStep } from '../../policy/retry.js';
import {
  aJob,
  anEvent,
  aPod,
  disrupted,
  GOING,
  main,
  type PodParts,
  running,
  terminated,
  waiting,
} from '../../test/k8s-pods.js';
import { seenEvents, seenJob, seenPod } from '../../test/k8s-seen.js';
import { type Ending, endOf, type LogStanding } from './k8s.end.js';

/** What a run of it comes to. */
function outcome(ending: Partial<Ending>, isJobGone = false) {
  const end = endOf({ ...(!isJobGone && { job: aJob() }), log: 'complete', ...ending });
  const verdict = verdictOf({ end, graders: [], timeoutSec: 60, setupSec: 60, graderSec: 60 });
  if (verdict.outcome !== 'errored') throw new Error(`it is ${verdict.outcome}`);
  const { errorClass, errorCode, reason } = verdict;
  return { as: `${errorClass} ${errorCode}`, retried: nextStep(verdict, 1, 1).kind === 'retry', reason };
}

const ofSeen = (name: string) => ({ pod: seenPod(name), events: seenEvents(name), job: seenJob(name) });

describe('as a live cluster told of it', () => {
  test.each<[title: string, name: string, as: string, reason: RegExp]>([
    [
      'K11 E45 memory of the process',
      'oom-main',
      'config OOM_KILLED',
      /the 20Mi of.*node-1 \(exit code 137\): raise `resources.memoryMb`/,
    ],
    ['K11 memory of a child alone', 'oom-child', 'config OOM_KILLED', /\(exit code 0\): raise `resources.memoryMb`/],
    [
      'K11 a kill alone',
      'kill9',
      'agent ABORTED',
      /exit code 137; if it ran out of memory, raise `resources.memoryMb`/,
    ],
    ['an end like others', 'exit3', 'agent ABORTED', /result: exit code 3$/],
    [
      'E45 a command that is not there',
      'nocmd',
      'harness COMMAND_NOT_FOUND',
      /is not there: node node-1 says: .*"\/nope"/,
    ],
    [
      'a command that cannot be executed',
      'devnull',
      'harness COMMAND_NOT_FOUND',
      /cannot be executed: .*permission denied/,
    ],
    [
      'an image without a user',
      'wd',
      'config BAD_SPEC',
      /cannot be started as it is declared: node node-1 says: .*unable to find user 0/,
    ],
    ['what comes before it is not there', 'initbad', 'harness COMMAND_NOT_FOUND', /"\/nope"/],
    [
      'what comes before it failed',
      'initfail',
      'infra ALLOCATION_LOST',
      /container payload.*failed on node node-1 \(exit code 4\)/,
    ],
    [
      'what comes before it ran out of memory',
      'initoom',
      'config OOM_KILLED',
      /container payload.*raise `resources.memoryMb`/,
    ],
    [
      'more disk than it may have',
      'disk',
      'agent ABORTED',
      /more than the disk.*exit code 137\): Pod ephemeral local storage usage exceeds/,
    ],
    [
      'more in a volume than it may have',
      'emptydir',
      'agent ABORTED',
      /more than the disk.*EmptyDir volume "d" exceeds the limit/,
    ],
    ['the time of its pod was over', 'poddeadline', 'agent TIMEOUT', /was over after 8 s \(exit code 137\)/],
    ['K13 a sidecar runs on', 'sidecar', 'agent ABORTED', /result: exit code 0$/],
    [
      'deleted, TERM answered with 0, its Job complete',
      'term',
      'infra EVICTED',
      /somebody deleted its pod.*on node node-1 \(exit code 0\)/,
    ],
    ['deleted, killed after its grace', 'notrap', 'infra EVICTED', /somebody deleted its pod.*\(exit code 137\)/],
    ['deleted by force', 'forced', 'infra EVICTED', /somebody deleted its pod/],
    [
      'evicted through the API',
      'evicted',
      'infra EVICTED',
      /evicted by others.*node-1 \(exit code 137\): Eviction API: evicting/,
    ],
    [
      'preempted',
      'victim',
      'infra EVICTED',
      /preempted for a pod of higher priority.*\(exit code 137\): default-scheduler/,
    ],
    ['its Job suspended', 'suspendrun', 'infra EVICTED', /its Job was suspended in Kubernetes/],
    ['its Job deleted', 'jobgone', 'infra EVICTED', /its Job was deleted in Kubernetes/],
    [
      'a node that did not match',
      'hostport',
      'infra ALLOCATION_LOST',
      /node node-1 did not take it.*NodeAffinity: Pod was rejected/,
    ],
    ['a node without room', 'outof', 'infra ALLOCATION_LOST', /did not take it.*OutOfcpu: .*capacity: 2000/],
  ])('%s', (_title, name, as, reason) => {
    const { job, ...ending } = ofSeen(name);
    const end = outcome({ ...ending, ...(job && { job }) }, job === undefined);
    expect(end).toEqual({ as, retried: as.startsWith('infra'), reason: expect.stringMatching(reason) });
  });
});

test('a time limit of its Job is none of ours', () => {
  const pod = aPod({ metadata: GOING, deleted: true, status: terminated(137) });
  const ending = { pod, job: seenJob('jobdeadline') ?? aJob() };
  expect(outcome(ending)).toMatchObject({
    as: 'infra EVICTED',
    reason: expect.stringMatching(/its Job has a time limit.*longer than specified deadline, on node rack-1/),
  });
});

type Row = [title: string, pod: PodParts, as: string, reason: RegExp];

const LOW = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi.';

const INFRA: Row[] = [
  [
    'K11 evicted for memory of the node, nothing told of containers',
    { status: { phase: 'Failed', reason: 'Evicted', message: LOW } },
    'infra EVICTED',
    /node rack-1 evicted it before it ever started: The node was low on resource: memory/,
  ],
  [
    'evicted for disk of the node',
    { status: { ...terminated(137), reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' } },
    'infra EVICTED',
    /\(exit code 137\): The node was low on resource: ephemeral-storage/,
  ],
  [
    'K09 a node that was lost',
    {
      status: {
        ...running,
        phase: 'Failed',
        reason: 'NodeLost',
        message: 'Node rack-1 which was running pod is unresponsive',
      },
    },
    'infra NODE_LOST',
    /node rack-1 was lost: Node rack-1/,
  ],
  [
    'a node that restarted',
    { status: terminated(255, 'Unknown') },
    'infra NODE_LOST',
    /node rack-1 restarted under it \(exit code 255\)/,
  ],
  [
    'a node that is no more',
    { metadata: GOING, status: { ...running, ...disrupted('DeletionByPodGC', 'PodGC: node no longer exists') } },
    'infra NODE_LOST',
    /was lost: PodGC: node no longer exists/,
  ],
  [
    'a node of which nothing is heard',
    {
      metadata: GOING,
      status: { ...running, ...disrupted('DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint') },
    },
    'infra NODE_LOST',
    /did not tell how it ended/,
  ],
  [
    'a taint',
    {
      deleted: true,
      metadata: GOING,
      status: {
        ...terminated(137),
        ...disrupted('DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'),
      },
    },
    'infra EVICTED',
    /a taint was put on its node, on node rack-1 \(exit code 137\)/,
  ],
  [
    'a taint, TERM answered with 0',
    { deleted: true, metadata: GOING, status: { ...terminated(0), ...disrupted('DeletionByTaintManager') } },
    'infra EVICTED',
    /\(exit code 0\)/,
  ],
  [
    'a node that shuts down',
    {
      status: {
        ...terminated(137),
        reason: 'Terminated',
        message: 'Pod was terminated in response to imminent node shutdown.',
        ...disrupted('TerminationByKubelet'),
      },
    },
    'infra EVICTED',
    /shutting down \(exit code 137\)/,
  ],
  [
    'a node that shuts down, by its older word',
    { status: { ...terminated(137), reason: 'Shutdown' } },
    'infra EVICTED',
    /shutting down/,
  ],
  [
    'a node that is shutting down already',
    { status: { phase: 'Failed', reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' } },
    'infra EVICTED',
    /would not take it.*before it ever started/,
  ],
  [
    'a critical pod',
    { status: { ...terminated(137), reason: 'Preempting', message: 'Preempted in order to admit critical pod' } },
    'infra EVICTED',
    /critical pod/,
  ],
  [
    'a disruption by its node',
    { status: { ...terminated(137), ...disrupted('TerminationByKubelet', 'x') } },
    'infra EVICTED',
    /its node ended it/,
  ],
  [
    'a disruption of a later version',
    { status: { ...terminated(0), ...disrupted('ByWhomever', 'x') } },
    'infra EVICTED',
    /disrupted \(ByWhomever\)/,
  ],
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
    /UnexpectedAdmissionError: Allocate failed/,
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
    'deleted before it started, as its node tells of it',
    {
      metadata: GOING,
      deleted: true,
      status: terminated(137, 'ContainerStatusUnknown', { startedAt: null, message: 'could not be located' }),
    },
    'infra EVICTED',
    /somebody deleted its pod.* before it ever started/,
  ],
  [
    'deleted before it started',
    { metadata: GOING, deleted: true, status: waiting('ContainerCreating') },
    'infra EVICTED',
    /somebody deleted its pod.* before it ever started/,
  ],
  [
    'deleted while its end was not told',
    { metadata: GOING, deleted: true, status: running },
    'infra EVICTED',
    /somebody deleted its pod.*rack-1$/,
  ],
  ['gone from one look to the next', { deleted: true, status: running }, 'infra EVICTED', /somebody deleted its pod/],
  ['nothing told of containers', { status: { phase: 'Failed' } }, 'infra ALLOCATION_LOST', /ended and never started/],
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
  ['unverified', undefined, 'agent ABORTED', /exit code 0; nothing proves/],
])('K07 K29 a log that is %s, of one that ended by itself', (log, logText, as, reason) => {
  const ending = { pod: aPod({ status: terminated(0) }), log, ...(logText && { logText }) };
  expect(outcome(ending)).toMatchObject({ as, reason: expect.stringMatching(reason) });
});

test('evidence of why it ended counts more than what became of its log', () => {
  const gone = { log: 'gone' as const };
  expect(outcome({ pod: aPod({ status: terminated(137, 'OOMKilled') }), ...gone }).as).toBe('config OOM_KILLED');
  expect(outcome({ pod: aPod({ metadata: GOING, status: terminated(0) }), ...gone }).as).toBe('infra EVICTED');
  expect(outcome({ pod: seenPod('disk'), ...gone }).as).toBe('agent ABORTED');
  expect(outcome({ pod: seenPod('poddeadline'), ...gone }).as).toBe('infra RESULT_LOST');
});

test('a node that is not ready is to blame for a log that cannot be read, and for nothing else', () => {
  const events = [anEvent('Pod', 'NodeNotReady', 'Node is not ready')];
  const pod = aPod({ status: running });
  expect(outcome({ pod, events, log: 'unreachable' })).toMatchObject({
    as: 'infra NODE_LOST',
    reason: expect.stringMatching(/^node rack-1 was lost/),
  });
  expect(outcome({ pod, log: 'unreachable' }).as).toBe('infra CLUSTER_UNREACHABLE');
  expect(outcome({ pod: aPod({ status: terminated(1) }), events, log: 'unreachable' }).as).toBe(
    'infra CLUSTER_UNREACHABLE',
  );
});

test('a node that is marked as silent is to blame as well, and one that speaks is not', () => {
  const ready = (more: object) => ({ ...running, conditions: [{ type: 'Ready', status: 'False', ...more }] });
  const log = 'unreachable' as const;
  expect(outcome({ pod: aPod({ status: ready({}) }), log }).as).toBe('infra NODE_LOST');
  expect(outcome({ pod: aPod({ status: ready({ reason: 'ContainersNotReady' }) }), log }).as).toBe(
    'infra CLUSTER_UNREACHABLE',
  );
});

describe('one that answered TERM with 0, and succeeded', () => {
  const pod = aPod({ status: terminated(0) });
  const killing = anEvent('Pod', 'Killing', 'Stopping container main');
  const evicted = (message: string) => ({ pod, events: [anEvent('Pod', 'Evicted', message), killing] });

  test('was evicted, by an event', () => {
    expect(outcome(evicted(LOW))).toMatchObject({
      as: 'infra EVICTED',
      reason: expect.stringMatching(/node rack-1 evicted it \(exit code 0\): The node was low/),
    });
    const own = 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ';
    expect(outcome(evicted(own)).as).toBe('agent ABORTED');
  });

  test('was stopped by something, by an event of its own container', () => {
    expect(outcome({ pod, events: [killing] })).toMatchObject({
      as: 'infra EVICTED',
      reason: expect.stringMatching(
        /something had node rack-1 stop it \(exit code 0\): Killing: Stopping container main$/,
      ),
    });
    expect(outcome({ pod, events: [anEvent('Pod', 'Killing', 'Stopping container istio-proxy')] }).as).toBe(
      'agent ABORTED',
    );
  });

  test('had no more time', () => {
    const overdue = aPod({ status: { ...terminated(0), phase: 'Failed', reason: 'DeadlineExceeded' } });
    expect(outcome({ pod: overdue, events: [killing] }).as).toBe('agent TIMEOUT');
  });
});

test('K09 what another pod of its Job did is not its end', () => {
  const lost = aPod({ status: { ...running, phase: 'Failed', reason: 'NodeLost' } });
  expect(
    outcome({ pod: lost, job: aJob({ status: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] } }) })
      .as,
  ).toBe('infra NODE_LOST');
});

describe('a pod that is gone', () => {
  const created = anEvent('Job', 'SuccessfulCreate', 'Created pod: ev-1-abcde');

  test.each<[string, string, string, RegExp]>([
    ['TaintManagerEviction', 'Marking for deletion Pod lab/ev-1-abcde', 'infra EVICTED', /a taint/],
    ['Preempted', 'Preempted by pod 7f on node rack-1', 'infra EVICTED', /preempted: Preempted: Preempted by pod 7f/],
    ['Evicted', LOW, 'infra EVICTED', /low on resource: memory/],
    ['NodeNotReady', 'Node is not ready', 'infra NODE_LOST', /its node was lost/],
  ])('is told of by its event %s', (reason, message, as, text) => {
    const events = [created, anEvent('Pod', reason, message)];
    expect(outcome({ events, log: 'gone' })).toMatchObject({ as, reason: expect.stringMatching(text) });
    expect(outcome({ events: events.slice(1), placedAs: 'p1', log: 'gone' })).toMatchObject({ as });
  });

  test('says nothing where the events are of another pod, or of an earlier Job of that name', () => {
    const other = { involvedObject: { kind: 'Pod', name: 'ev-1-zzzzz', uid: 'p9' } };
    const earlier = { involvedObject: { kind: 'Job', name: 'ev-1', uid: 'j0' } };
    const events = [
      anEvent('Job', 'SuccessfulCreate', 'Created pod: ev-1-zzzzz', earlier),
      anEvent('Pod', 'Evicted', LOW, other),
    ];
    expect(outcome({ events, log: 'gone' }).as).toBe('infra ALLOCATION_LOST');
    expect(outcome({ events, placedAs: 'p1', log: 'gone' }).as).toBe('infra RESULT_LOST');
  });

  test('is never an empty success', () => {
    const job = aJob({
      status: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True', reason: 'CompletionsReached' }] },
    });
    expect(outcome({ job, log: 'complete' })).toMatchObject({
      as: 'infra ALLOCATION_LOST',
      reason: expect.stringMatching(/CompletionsReached/),
    });
  });

  test('is told of by its Job', () => {
    const job = aJob({
      status: {
        conditions: [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'Job was active longer' }],
      },
    });
    expect(outcome({ job, log: 'gone' })).toMatchObject({
      as: 'infra EVICTED',
      reason: expect.stringMatching(/time limit, which is not of ours/),
    });
  });
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
