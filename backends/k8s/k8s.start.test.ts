import { anEvent, aPod, main, running, terminated, waiting } from '../../test/k8s-pods.js';
import { seenEvents, seenPod } from '../../test/k8s-seen.js';
import { initFailureOf, startFailureOf, startProgressOf } from './k8s.start.js';

test.each([
  [{}, [], /^placed on node rack-1, and nothing is heard of it yet$/],
  [waiting('ContainerCreating'), [], /^starting on node rack-1: ContainerCreating$/],
  [
    waiting('ContainerCreating'),
    [anEvent('Pod', 'Pulling', 'Pulling image "r/x:1"')],
    /^pulling its image on node rack-1 \(Pulling image "r\/x:1"\)$/,
  ],
  [
    waiting('ContainerCreating'),
    [anEvent('Pod', 'Pulled', 'Successfully pulled')],
    /^starting on node rack-1: ContainerCreating$/,
  ],
  [
    waiting('ContainerCreating'),
    [anEvent('Pod', 'FailedMount', 'MountVolume.SetUp failed')],
    /^starting on node rack-1: FailedMount: MountVolume.SetUp failed$/,
  ],
  [
    { ...waiting('PodInitializing'), initContainerStatuses: [{ name: 'payload', state: { running: {} } }] },
    [],
    /^starting on node rack-1: container payload, which comes before it, runs$/,
  ],
  [waiting('ErrImagePull', 'no such host'), [], /^the image r\/x:1 cannot be pulled on node rack-1: no such host$/],
])('how far it has come: %#', (status, events, text) => {
  expect(startProgressOf(aPod({ status }), events)).toMatch(text);
});

test('K19 a volume that is not there, as a live cluster told of it', () => {
  const pod = seenPod('mount-absent');
  expect(startProgressOf(pod, seenEvents('mount-absent'))).toBe(
    'starting on node node-1: FailedMount: MountVolume.SetUp failed for volume "s" : secret "absent" not found',
  );
  expect(startFailureOf(pod, seenEvents('mount-absent'))).toBeUndefined();
});

test.each<[string, string, RegExp]>([
  [
    'cfg-secret',
    'BAD_SPEC',
    /something in its `namespace` removes.*CreateContainerConfigError: secret "absent" not found/,
  ],
  ['cfg-root', 'BAD_SPEC', /takes no container of root: give an `image` whose user is another.*runAsNonRoot/],
  ['nocmd', 'COMMAND_NOT_FOUND', /"\/nope"/],
  ['initbad', 'COMMAND_NOT_FOUND', /"\/nope"/],
  ['badmem', 'OOM_KILLED', /raise `resources.memoryMb`.*OOM-killed/],
  ['img-invalid', 'IMAGE_UNAVAILABLE', /a b/],
])('E45 why it does not start, as a live cluster told of it: %s', (name, code, message) => {
  expect(startFailureOf(seenPod(name), seenEvents(name))).toEqual({ code, message: expect.stringMatching(message) });
});

test.each<[string, string, string, RegExp]>([
  [
    'CreateContainerError',
    'failed to create containerd container: no command specified',
    'BAD_SPEC',
    /cannot be started as it is declared: node rack-1 says: CreateContainerError: .*no command/,
  ],
  ['RunContainerError', 'exec: "/bin/sh": no such file or directory', 'TOOL_MISSING', /no \/bin\/sh/],
  ['CreateContainerConfigError', "couldn't find key nonce in Secret lab/ev-1", 'BAD_SPEC', /`namespace`/],
  ['CreateContainerError', '', 'BAD_SPEC', /CreateContainerError/],
  ['RunContainerError', 'fork/exec /bin/sh: argument list too long', 'BAD_SPEC', /variables/],
])('%s: %s is final', (reason, message, code, text) => {
  expect(startFailureOf(aPod({ status: waiting(reason, message) }))).toEqual({
    code,
    message: expect.stringMatching(text),
  });
});

test.each([
  ['CreateContainerConfigError', 'failed to sync secret cache: timed out waiting for the condition'],
  ['CreateContainerError', 'context deadline exceeded'],
  ['RunContainerError', 'failed to start containerd task "main": cannot start a stopped process: unknown'],
  ['CreateContainerError', 'failed to reserve container name "main": name "main" is reserved for "7f"'],
  ['ErrImagePull', 'no such host'],
  ['ErrImagePull', 'r/x:1: not found'],
  ['ImagePullBackOff', 'Back-off pulling image "r/x:1": ErrImagePull: 401 Unauthorized'],
  ['ContainerCreating', ''],
])('%s: %s may pass', (reason, message) => {
  expect(startFailureOf(aPod({ status: waiting(reason, message) }))).toBeUndefined();
});

test('a runtime class whose program is not on its node is told of by an event, of that pod alone', () => {
  const message =
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "runsc" is configured';
  const pod = aPod({ status: waiting('ContainerCreating') });
  const event = anEvent('Pod', 'FailedCreatePodSandBox', message);
  expect(startFailureOf(pod, [event])).toEqual({
    code: 'BAD_SPEC',
    message: expect.stringMatching(/its `runtimeClass`.*"runsc"/),
  });
  expect(
    startFailureOf(pod, [anEvent('Pod', 'FailedCreatePodSandBox', message, { involvedObject: { uid: 'p0' } })]),
  ).toBeUndefined();
  expect(
    startFailureOf(pod, [anEvent('Pod', 'FailedCreatePodSandBox', 'plugin type="bridge" failed')]),
  ).toBeUndefined();
});

test('what started, or says nothing, did not fail to start', () => {
  expect(startFailureOf(aPod({ status: running }))).toBeUndefined();
  expect(startFailureOf(aPod({ status: terminated(128) }))).toBeUndefined();
  expect(startFailureOf(aPod())).toBeUndefined();
  expect(initFailureOf(aPod({ status: terminated(1) }))).toBeUndefined();
});

test('what comes before it and failed is told, with how', () => {
  const initContainerStatuses = [
    { name: 'first', state: { terminated: { exitCode: 0 } } },
    { name: 'istio-init', state: { terminated: { exitCode: 2, reason: 'Error', message: 'no iptables' } } },
  ];
  expect(initFailureOf(aPod({ status: { phase: 'Failed', ...main({ waiting: {} }), initContainerStatuses } }))).toEqual(
    {
      code: 'ALLOCATION_LOST',
      message: 'container istio-init, which comes before it, failed on node rack-1 (exit code 2): no iptables',
    },
  );
});
