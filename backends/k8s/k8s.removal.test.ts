import { outcome } from '../../test/k8s-outcome.js';
import {
  aJob,
  anEvent,
  aPod,
  disrupted,
  GOING,
  type PodParts,
  running,
  terminated,
  waiting,
} from '../../test/k8s-pods.js';
import { seenJob } from '../../test/k8s-seen.js';

const LOW = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi.';

test.each<[title: string, pod: PodParts, as: string, reason: RegExp]>([
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
    {
      metadata: GOING,
      deleted: true,
      status: { ...running, phase: 'Failed', ...disrupted('DeletionByPodGC', 'PodGC: node no longer exists') },
    },
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
    /node rack-1 was lost: it does not end what is to go: Taint manager/,
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
    'a node that was started again with other labels',
    { status: { ...terminated(137), reason: 'NodeAffinity', message: 'Predicate NodeAffinity failed' } },
    'infra EVICTED',
    /node rack-1 let it run no longer \(exit code 137\): NodeAffinity: Predicate/,
  ],
  [
    'a node that does not remove what is to go',
    { metadata: GOING, status: running },
    'infra NODE_LOST',
    /^node rack-1 was lost: it does not end what is to go$/,
  ],
  [
    'a taint, its end not seen',
    { deleted: true, metadata: GOING, status: { ...running, ...disrupted('DeletionByTaintManager') } },
    'infra EVICTED',
    /a taint was put on its node, on node rack-1$/,
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
])('%s is infra, and tried again', (_title, pod, as, reason) => {
  expect(outcome({ pod: aPod(pod) })).toEqual({ as, retried: true, reason: expect.stringMatching(reason) });
});

test('a time limit of its Job is none of ours', () => {
  const pod = aPod({ metadata: GOING, deleted: true, status: terminated(137) });
  const ending = { pod, job: seenJob('jobdeadline') ?? aJob() };
  expect(outcome(ending)).toMatchObject({
    as: 'infra EVICTED',
    reason: expect.stringMatching(/its Job has a time limit.*longer than specified deadline, on node rack-1/),
  });
});

test('a node that is not ready is to blame for a log that cannot be read, and for nothing else', () => {
  const events = [anEvent('Pod', 'NodeNotReady', 'Node is not ready')];
  const pod = aPod({ status: running });
  expect(outcome({ pod, events, log: 'unreachable' })).toMatchObject({
    as: 'infra NODE_LOST',
    reason: expect.stringMatching(/^node rack-1 was lost: it is not ready/),
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
