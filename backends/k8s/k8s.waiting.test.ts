import { aJob, anEvent, aPod, type PodParts, waiting } from '../../test/k8s-pods.js';
import { seenEvents, seenJob, seenPod } from '../../test/k8s-seen.js';
import { placementTimeout } from '../start-timeouts.js';
import { waitingOf } from './k8s.waiting.js';

const ofSeen = (name: string) => {
  const job = seenJob(name);
  if (!job) throw new Error(`no Job was seen of ${name}`);
  return { job, events: seenEvents(name) };
};

test.each<[string, string]>([
  ['K31 unsched', "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector; see `nodeSelector`"],
  ['K31 gpu', '0/1 nodes are available: 1 Insufficient nvidia.com/gpu; see `resources.gpu`'],
  ['K31 bigmem', '0/1 nodes are available: 1 Insufficient memory; see `resources.memoryMb`'],
  ['gated', 'scheduling gates hold its pod back, by others than us: a queue may have put them there'],
])('%s is not placed, as a live cluster told of it', (title, detail) => {
  const name = title.split(' ').at(-1) ?? '';
  const found = waitingOf({ ...ofSeen(name), pod: seenPod(name) });
  expect(found).toEqual({ detail: `placement blocked: ${detail}`, isPlaced: false });
  expect(placementTimeout(found.detail, 120)).toEqual({
    code: 'PLACEMENT_TIMEOUT',
    message: `not placed within 120 s (\`placementPatienceSec\`): placement blocked: ${detail}`,
  });
});

const unscheduled = (reason: string, message?: string): PodParts => ({
  spec: { nodeName: undefined },
  status: { conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] },
});

test.each<[string, PodParts, string]>([
  [
    'of three taints',
    unscheduled(
      'Unschedulable',
      '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: x}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    ),
    '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: x}; see `tolerations`, `resources.cpu`',
  ],
  [
    'cordoned',
    unscheduled('Unschedulable', '0/1 nodes are available: 1 node(s) were unschedulable.'),
    '0/1 nodes are available: 1 node(s) were unschedulable.',
  ],
  ['without words', unscheduled('SchedulerError'), 'SchedulerError'],
])('K31 a pod that is not placed: %s', (_title, pod, detail) => {
  expect(waitingOf({ job: aJob(), pod: aPod(pod) })).toEqual({
    detail: `placement blocked: ${detail}`,
    isPlaced: false,
  });
});

test('K19 a quota that is used up is waited for, and named', () => {
  const found = waitingOf(ofSeen('over'));
  expect(found).toEqual({
    detail:
      'placement blocked: the quota q is used up (requested: limits.memory=128Mi, used: limits.memory=0, limited: limits.memory=64Mi)',
    isPlaced: false,
  });
});

test.each<[string, RegExp]>([
  [
    'must',
    /a quota of its `namespace` takes none without `resources.memoryMb` and `resources.cpu`: failed quota: q: must specify/,
  ],
  [
    'toobig',
    /a LimitRange of its `namespace` does not allow its `resources.memoryMb`: maximum memory usage per Container is 32Mi, but limit is 128Mi/,
  ],
  ['toosmall', /a LimitRange.*minimum memory usage/],
  [
    'psa',
    /stricter PodSecurity level: give another: violates PodSecurity "restricted:latest": allowPrivilegeEscalation/,
  ],
  ['sa', /lacks the service account.*serviceaccount "absent" not found/],
  ['runtimeclass', /no such `runtimeClass`: pod rejected: RuntimeClass "absent" not found/],
  ['prio', /no such priority class/],
])('K19 %s never heals, and is final at once', (name, message) => {
  const found = waitingOf(ofSeen(name));
  expect(found).toMatchObject({
    isPlaced: false,
    failure: { code: 'BAD_SPEC', message: expect.stringMatching(message) },
  });
});

const refused = (message: string) =>
  waitingOf({ job: aJob(), events: [anEvent('Job', 'FailedCreate', `Error creating: ${message}`)] });

test.each([
  'admission webhook "policy.test" denied the request: no images of strangers',
  "pods \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no",
  'pods "x" is forbidden: unable to create new content in namespace lab because it is being terminated',
  'pods "x" is forbidden: memory max limit to request ratio per Container is 1, but provided ratio is 2.000000',
  'pods "x" is forbidden: [maximum cpu usage per Container is 100m, but limit is 1, maximum memory usage per Pod is 32Mi, but limit is 128Mi]',
  'pods "x" is forbidden: pod node label selector conflicts with its namespace node label selector',
  'pods "x" is forbidden: image policy webhook backend denied one or more images: no',
  'Pod "x" is invalid: spec.containers[0].image: Required value',
])('what Kubernetes never makes: %s', (message) => {
  expect(refused(message).failure).toEqual({
    code: 'BAD_SPEC',
    message: expect.stringMatching(/^Kubernetes makes no pod of it: /),
  });
});

test.each([
  'Internal error occurred: failed calling webhook "w.test": failed to call webhook: Post "https://w.test/": context deadline exceeded',
  'pods "x" is forbidden: status unknown for quota: q, resources: limits.memory',
  'Operation cannot be fulfilled on resourcequotas "q": the object has been modified',
  'Timeout: request did not complete within requested timeout',
  'words that nobody knows',
])('what it may make later: %s', (message) => {
  expect(refused(message)).toEqual({
    detail: expect.stringMatching(/^placement blocked: Kubernetes cannot make its pod now: /),
    isPlaced: false,
  });
});

describe('a Job that has no pod yet', () => {
  test('K19 is not told of by events of an earlier one of its name, or by older ones of its own', () => {
    const quota =
      'Error creating: pods "x" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=1, limited: cpu=1';
    const earlier = anEvent('Job', 'FailedCreate', quota, { involvedObject: { kind: 'Job', name: 'ev-1', uid: 'j0' } });
    const fresh = { detail: 'Kubernetes has not made its pod yet', isPlaced: false };
    expect(waitingOf({ job: aJob(), events: [earlier] })).toEqual(fresh);
    const made = anEvent('Job', 'SuccessfulCreate', 'Created pod: x', { lastTimestamp: '2026-01-01T00:00:09Z' });
    expect(waitingOf({ job: aJob(), events: [made, anEvent('Job', 'FailedCreate', quota)] })).toEqual(fresh);
    expect(waitingOf({ job: aJob() })).toEqual(fresh);
  });

  test('is told that others suspended it', () => {
    expect(waitingOf(ofSeen('suspended'))).toEqual({
      detail: expect.stringMatching(/suspended in Kubernetes, by others than us/),
      isPlaced: false,
    });
  });

  test('and is over has failed', () => {
    const conditions = [
      { type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'Job was active longer' },
    ];
    expect(waitingOf({ job: aJob({ status: { conditions } }) })).toMatchObject({
      isPlaced: false,
      failure: { code: 'EVICTED', message: expect.stringMatching(/time limit/) },
    });
  });
});

test('E45 a pod that has a node is placed, and fails at once where waiting does not help', () => {
  const job = aJob();
  expect(waitingOf({ job, pod: aPod() })).toEqual({
    detail: 'placed on node rack-1, and nothing is heard of it yet',
    isPlaced: true,
  });
  expect(waitingOf({ job, pod: aPod({ status: waiting('ErrImagePull', 'no such host') }) })).toEqual({
    detail: 'the image r/x:1 cannot be pulled on node rack-1: no such host',
    isPlaced: true,
  });
  expect(waitingOf({ job, pod: aPod({ status: waiting('InvalidImageName') }) })).toMatchObject({
    isPlaced: true,
    failure: { code: 'IMAGE_UNAVAILABLE' },
  });
});

test('what a cluster says is told on one line, and no more of it than is read', () => {
  const message = `\u001b[2J\u202e${'x'.repeat(9_000)}`;
  for (const detail of [
    refused(message).detail,
    waitingOf({ job: aJob(), pod: aPod(unscheduled('Unschedulable', message)) }).detail,
  ]) {
    expect(detail).toMatch(/^[^\p{Cc}\p{Cf}]{20,500}$/u);
  }
});
