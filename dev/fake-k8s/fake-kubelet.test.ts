import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FakeKubelet } from './fake-kubelet.js';
import type { Container, K8sEvent, Pod, PodSpec } from './fake-objects.js';
import { FakeStore } from './fake-store.js';

const NAMESPACE = 'evals';

let root: string;
let store: FakeStore;
let kubelet: FakeKubelet;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'fake-kubelet-'));
  store = new FakeStore();
  kubelet = new FakeKubelet(store, { node: 'rack-1', root });
});

afterEach(async () => {
  await kubelet.close();
  rmSync(root, { recursive: true, force: true });
});

const sh = (script: string, rest: Partial<Container> = {}): Container => ({
  ...{ name: 'main', image: 'x:1', command: ['/bin/sh', '-c', script] },
  ...rest,
});

function place(name: string, spec: Partial<PodSpec> & { containers: Container[] }): void {
  store.create('pods', NAMESPACE, {
    metadata: { name },
    spec: { nodeName: 'rack-1', restartPolicy: 'Never', terminationGracePeriodSeconds: 5, ...spec },
    status: { phase: 'Pending' },
  });
}

/** The pod once it is so; every state that it had on its way. */
async function until(name: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
  const now = store.get('pods', NAMESPACE, name);
  if (now && isSo(now)) return now;
  return new Promise((resolve) => {
    const unlisten = store.onChange(({ kind, object }) => {
      if (kind !== 'pods' || object.metadata.name !== name || !isSo(object as Pod)) return;
      unlisten();
      resolve(object as Pod);
    });
  });
}

async function untilGone(name: string): Promise<Pod> {
  return new Promise((resolve) => {
    const unlisten = store.onChange(({ kind, type, object }) => {
      if (kind !== 'pods' || type !== 'DELETED' || object.metadata.name !== name) return;
      unlisten();
      resolve(object as Pod);
    });
  });
}

const hasEnded = ({ status }: Pod): boolean => status.phase === 'Succeeded' || status.phase === 'Failed';
const stateOf = ({ status }: Pod) => status.containerStatuses?.find(({ name }) => name === 'main')?.state;
const isRunning = (pod: Pod): boolean => stateOf(pod)?.running !== undefined;
const isWaiting = (reason: string) => (pod: Pod) => stateOf(pod)?.waiting?.reason === reason;
const conditionsOf = ({ status }: Pod) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: is, reason }) => [type, reason ?? is]));

async function logOf(name: string, container = 'main'): Promise<string> {
  const pod = store.get('pods', NAMESPACE, name);
  const run = pod && kubelet.runOf(pod)?.containers.find((each) => each.container.name === container);
  const texts: string[] = [];
  for (let entry = run?.log.start.next; entry; entry = entry.next) texts.push(entry.bytes.toString());
  return texts.join('');
}

const events = (name: string): K8sEvent[] =>
  store.list('events', NAMESPACE).filter(({ involvedObject }) => involvedObject.name === name);
const eventTexts = (name: string): string[] =>
  events(name)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);

test('a pod is created, runs, has ended in its container, and then in its phase', async () => {
  const seen: string[] = [];
  store.onChange(({ kind, object }) => {
    if (kind !== 'pods') return;
    const state = stateOf(object as Pod) ?? {};
    const [what] = Object.keys(state);
    const now = `${(object as Pod).status.phase} ${what}`;
    if (seen.at(-1) !== now) seen.push(now);
  });
  place('p', { containers: [sh('echo out; echo err >&2; sleep 0.3; exit 3')] });
  const pod = await until('p', hasEnded);

  expect(seen).toEqual([
    'Pending undefined',
    'Pending waiting',
    'Running running',
    'Running terminated',
    'Failed terminated',
  ]);
  expect(stateOf(pod)?.terminated).toEqual({
    ...{ exitCode: 3, reason: 'Error', startedAt: expect.stringMatching(/:\d\dZ$/) },
    ...{ finishedAt: expect.stringMatching(/:\d\dZ$/), containerID: expect.stringMatching(/^containerd:\/\/\w{64}$/) },
  });
  expect(conditionsOf(pod)).toEqual({
    ...{ PodReadyToStartContainers: 'False', Initialized: 'True', PodScheduled: 'True' },
    ...{ Ready: 'PodFailed', ContainersReady: 'PodFailed' },
  });
  expect((await logOf('p')).split('\n').sort()).toEqual(['', 'err', 'out']);
  expect(eventTexts('p')).toEqual([
    'Normal Pulled Container image "x:1" already present on machine',
    'Normal Created Created container: main',
    'Normal Started Started container main',
  ]);
});

test('init containers run one after the other, and the first that fails ends it', async () => {
  const init = (name: string, script: string) => ({ ...sh(script), name });
  place('good', { initContainers: [init('a', 'sleep 0.1'), init('b', 'exit 0')], containers: [sh('exit 0')] });
  place('bad', { initContainers: [init('a', 'exit 4'), init('b', 'exit 0')], containers: [sh('exit 0')] });
  const good = await until('good', hasEnded);
  expect(good.status.phase).toBe('Succeeded');
  expect(good.status.initContainerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
  expect(conditionsOf(good)).toMatchObject({ Initialized: 'PodCompleted', Ready: 'PodCompleted' });

  const bad = await until('bad', hasEnded);
  expect(bad.status).toMatchObject({
    phase: 'Failed',
    initContainerStatuses: [{ state: { terminated: { exitCode: 4 } } }, { state: { waiting: {} } }],
    containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
  });
  expect(conditionsOf(bad)).toMatchObject({ Initialized: 'ContainersNotInitialized', Ready: 'PodFailed' });
});

test('secrets and empty directories are mounted: their paths lead to them, in words and variables', async () => {
  const data = { 'run.sh': Buffer.from('cat "$1/a/b" "$DIR/a/b"').toString('base64'), k: btoa('v') };
  store.create('secrets', NAMESPACE, { metadata: { name: 's' }, data });
  const secret = {
    secretName: 's',
    defaultMode: 0o444,
    items: [
      { key: 'run.sh', path: 'run.sh', mode: 0o555 },
      { key: 'k', path: 'a/b' },
    ],
  };
  const volumeMounts = [
    { name: 'payload', mountPath: '/everdict/payload', readOnly: true },
    { name: 'state', mountPath: '/everdict/state' },
  ];
  const script = 'sh /everdict/payload/run.sh "$@"; stat -L -c "|%a" /everdict/payload/*; : >/everdict/state/x';
  place('p', {
    volumes: [
      { name: 'payload', secret },
      { name: 'state', emptyDir: {} },
    ],
    containers: [
      sh(script, {
        ...{ volumeMounts, args: ['sh', '/everdict/payload'] },
        env: [{ name: 'DIR', value: '/everdict/payload' }],
      }),
    ],
  });
  const { metadata } = await until('p', hasEnded);
  expect(await logOf('p')).toBe('vv|755\n|555\n');
  expect(readdirSync(path.join(root, metadata.uid, 'volumes', 'state'))).toEqual(['x']);

  const gone = untilGone('p');
  store.remove('pods', NAMESPACE, 'p', { graceSeconds: 1 });
  await gone;
  await kubelet.close();
  expect(existsSync(path.join(root, metadata.uid))).toBe(false);
});

test('variables are put in where they are known, and a secret that is missing is waited for', async () => {
  const env = [
    { name: 'A', value: 'a' },
    { name: 'B', value: `$(A)$(S)$(C)$$(A)` },
    { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'none', optional: true } } },
  ];
  place('p', { containers: [sh(`echo "$B|$S|$(A)|$$(echo x)|$HOSTNAME|\${C-unset}"`, { env })] });
  const waiting = await until('p', isWaiting('CreateContainerConfigError'));
  expect(stateOf(waiting)?.waiting?.message).toBe('secret "s" not found');

  store.create('secrets', NAMESPACE, { metadata: { name: 's' }, data: { other: '' } });
  const other = await until('p', (pod) => stateOf(pod)?.waiting?.message !== 'secret "s" not found');
  expect(stateOf(other)?.waiting?.message).toBe("couldn't find key k in Secret evals/s");
  store.update('secrets', NAMESPACE, 's', (secret) => {
    secret.data = { k: btoa('$(A)') };
  });
  await until('p', hasEnded);
  expect(await logOf('p')).toBe('a$(S)$(C)$(A)|$(A)|a|x|p|unset\n');
});

test('a volume whose secret is missing keeps a pod from starting', async () => {
  place('p', { volumes: [{ name: 'v', secret: { secretName: 'none' } }], containers: [sh('exit 0')] });
  const told = new Promise<void>((resolve) => {
    store.onChange(({ kind }) => kind === 'events' && resolve());
  });
  await told;
  expect(eventTexts('p')).toEqual([
    'Warning FailedMount MountVolume.SetUp failed for volume "v" : secret "none" not found',
  ]);
  expect(stateOf(await until('p', isWaiting('ContainerCreating')))).toEqual({
    waiting: { reason: 'ContainerCreating' },
  });
});

test.each([
  ['/nope', 'exec: "/nope": stat /nope: no such file or directory: unknown'],
  ['nopenope', 'exec: "nopenope": executable file not found in $PATH: unknown'],
  ['/etc/passwd', 'exec: "/etc/passwd": permission denied: unknown'],
])('a program that cannot be started fails the pod with 128: %s', async (program, text) => {
  place('p', { containers: [{ name: 'main', image: 'x', command: [program] }] });
  const pod = await until('p', hasEnded);
  expect(stateOf(pod)?.terminated).toMatchObject({
    ...{ exitCode: 128, reason: 'StartError', startedAt: '1970-01-01T00:00:00Z' },
    message: expect.stringContaining(text),
  });
});

test.each([
  ['UPPER:1', undefined, 'InvalidImageName', /repository name \(library\/UPPER\) must be lowercase$/],
  ['a b', undefined, 'InvalidImageName', /couldn't parse image name "a b": invalid reference format$/],
  ['r.example/x:1', 'Never', 'ErrImageNeverPull', /^Container image "r.example\/x:1" is not present with pull policy/],
])('an image that cannot be had is told at once: %s', async (image, imagePullPolicy, reason, text) => {
  kubelet.images.rules.set('r.example/x:1', 'not-found');
  place('p', { containers: [sh('exit 0', { image, imagePullPolicy })] });
  expect(stateOf(await until('p', isWaiting(reason)))?.waiting?.message).toMatch(text);
});

test('a pull that fails and its back-off alternate, until the image is there', async () => {
  kubelet.images.rules.set('r.example/x:1', 'unknown-host');
  place('p', { containers: [sh('exit 0', { image: 'r.example/x:1' })] });
  const failure =
    'failed to pull and unpack image "r.example/x:1": failed to resolve reference "r.example/x:1": failed to do ' +
    'request: Head "https://r.example/v2/x/manifests/1": dial tcp: lookup r.example: no such host';
  const failed = await until('p', isWaiting('ErrImagePull'));
  expect(stateOf(failed)?.waiting?.message).toBe(failure);
  const backedOff = await until('p', isWaiting('ImagePullBackOff'));
  expect(stateOf(backedOff)?.waiting?.message).toBe(`Back-off pulling image "r.example/x:1": ErrImagePull: ${failure}`);
  await until('p', isWaiting('ErrImagePull'));
  kubelet.images.rules.clear();
  expect((await until('p', hasEnded)).status.phase).toBe('Succeeded');
  const failures = events('p').find(({ message }) => message === 'Error: ErrImagePull');
  expect(failures?.count).toBeGreaterThan(1);
});

describe('a pod that is deleted', () => {
  test('and answers TERM with 0 has succeeded before it is gone', async () => {
    place('p', { containers: [sh('trap "echo bye; exit 0" TERM; while :; do sleep 0.05; done')] });
    await until('p', isRunning);
    const gone = untilGone('p');
    store.remove('pods', NAMESPACE, 'p', { graceSeconds: 5 });
    const ended = await until('p', hasEnded);
    expect(ended).toMatchObject({ status: { phase: 'Succeeded' }, metadata: { deletionGracePeriodSeconds: 5 } });
    expect(await logOf('p')).toBe('bye\n');
    expect((await gone).status.phase).toBe('Succeeded');
    expect(eventTexts('p').at(-1)).toBe('Normal Killing Stopping container main');
  });

  test('and does not handle TERM is killed after its grace, whatever it would do elsewhere', async () => {
    place('p', { containers: [sh('exec sleep 60')] });
    await until('p', isRunning);
    store.remove('pods', NAMESPACE, 'p', { graceSeconds: 1 });
    const pod = await until('p', hasEnded);
    expect(pod.status.phase).toBe('Failed');
    expect(stateOf(pod)?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
  });

  test('before its container could start has failed with a container that nobody knows', async () => {
    kubelet.images.rules.set('x:1', 'not-found');
    place('p', { containers: [sh('exit 0')] });
    await until('p', isWaiting('ErrImagePull'));
    const gone = untilGone('p');
    store.remove('pods', NAMESPACE, 'p', { graceSeconds: 30 });
    expect((await gone).status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [
        { state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null } } },
      ],
    });
  });

  test('by force is gone at once, with what it runs', async () => {
    place('p', { containers: [sh('sleep 60 & wait')] });
    const { metadata } = await until('p', isRunning);
    store.remove('pods', NAMESPACE, 'p');
    expect(store.get('pods', NAMESPACE, 'p')).toBeUndefined();
    expect(kubelet.runOf({ metadata } as Pod)).toBeUndefined();
    await kubelet.close();
  });
});

test('a pod past its deadline is kept, and failed whatever its container ended with', async () => {
  const containers = [sh('trap "exit 0" TERM; while :; do sleep 0.05; done')];
  place('p', { activeDeadlineSeconds: 1, containers });
  const pod = await until('p', hasEnded);
  expect(pod.status).toMatchObject({
    ...{ phase: 'Failed', reason: 'DeadlineExceeded' },
    message: 'Pod was active on the node longer than the specified deadline',
  });
  expect(store.get('pods', NAMESPACE, 'p')).toBe(pod);
});

test('what a container leaves running ends with it', async () => {
  place('p', { containers: [sh('(sleep 60; echo late) & echo done')] });
  expect((await until('p', hasEnded)).status.phase).toBe('Succeeded');
  expect(await logOf('p')).toBe('done\n');
});
