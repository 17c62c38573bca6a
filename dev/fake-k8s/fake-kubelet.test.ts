import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { conditionsOf, hasEnded, isWaiting, KubeletLab, NAMESPACE, sh, stateOf } from '../../test/kubelet-lab.js';
import type { Pod } from './fake-objects.js';

let lab: KubeletLab;

beforeEach(() => {
  lab = new KubeletLab();
});

afterEach(() => lab.close());

test('a pod is created, runs, has ended in its container, and then in its phase', async () => {
  const seen: string[] = [];
  lab.store.onChange(({ kind, object }) => {
    if (kind !== 'pods') return;
    const state = stateOf(object as Pod) ?? {};
    const [what] = Object.keys(state);
    const now = `${(object as Pod).status.phase} ${what}`;
    if (seen.at(-1) !== now) seen.push(now);
  });
  lab.place('p', { containers: [sh('echo out; echo err >&2; sleep 0.3; exit 3')] });
  const pod = await lab.until('p', hasEnded);

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
  expect(lab.log('p').split('\n').sort()).toEqual(['', 'err', 'out']);
  expect(lab.events('p')).toEqual([
    'Normal Pulled Container image "x:1" already present on machine',
    'Normal Created Created container: main',
    'Normal Started Started container main',
  ]);
});

test('init containers run one after the other, and the first that fails ends it', async () => {
  const init = (name: string, script: string) => ({ ...sh(script), name });
  lab.place('good', { initContainers: [init('a', 'sleep 0.1'), init('b', 'exit 0')], containers: [sh('exit 0')] });
  lab.place('bad', { initContainers: [init('a', 'exit 4'), init('b', 'exit 0')], containers: [sh('exit 0')] });
  const good = await lab.until('good', hasEnded);
  expect(good.status.phase).toBe('Succeeded');
  expect(good.status.initContainerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
  expect(conditionsOf(good)).toMatchObject({ Initialized: 'PodCompleted', Ready: 'PodCompleted' });

  const bad = await lab.until('bad', hasEnded);
  expect(bad.status).toMatchObject({
    phase: 'Failed',
    initContainerStatuses: [{ state: { terminated: { exitCode: 4 } } }, { state: { waiting: {} } }],
    containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
  });
  expect(conditionsOf(bad)).toMatchObject({ Initialized: 'ContainersNotInitialized', Ready: 'PodFailed' });
});

test('secrets and empty directories are mounted: their paths lead to them, in words and variables', async () => {
  const data = { 'run.sh': Buffer.from('cat "$1/a/b" "$DIR/a/b"').toString('base64'), k: btoa('v') };
  lab.store.create('secrets', NAMESPACE, { metadata: { name: 's' }, data });
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
  lab.place('p', {
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
  const { metadata } = await lab.until('p', hasEnded);
  expect(lab.log('p')).toBe('vv|755\n|555\n');
  expect(readdirSync(path.join(lab.root, metadata.uid, 'volumes', 'state'))).toEqual(['x']);

  const gone = lab.gone('p');
  lab.store.remove('pods', NAMESPACE, 'p', { graceSeconds: 1 });
  await gone;
  await lab.kubelets.close();
  expect(existsSync(path.join(lab.root, metadata.uid))).toBe(false);
});

test('variables are put in where they are known, and a secret that is missing is waited for', async () => {
  const env = [
    { name: 'A', value: 'a' },
    { name: 'B', value: `$(A)$(S)$(C)$$(A)` },
    { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'none', optional: true } } },
  ];
  lab.place('p', { containers: [sh(`echo "$B|$S|$(A)|$$(echo x)|$HOSTNAME|\${C-unset}"`, { env })] });
  const waiting = await lab.until('p', isWaiting('CreateContainerConfigError'));
  expect(stateOf(waiting)?.waiting?.message).toBe('secret "s" not found');

  lab.store.create('secrets', NAMESPACE, { metadata: { name: 's' }, data: { other: '' } });
  const other = await lab.until('p', (pod) => stateOf(pod)?.waiting?.message !== 'secret "s" not found');
  expect(stateOf(other)?.waiting?.message).toBe("couldn't find key k in Secret evals/s");
  lab.store.update('secrets', NAMESPACE, 's', (secret) => {
    secret.data = { k: btoa('$(A)') };
  });
  await lab.until('p', hasEnded);
  expect(lab.log('p')).toBe('a$(S)$(C)$(A)|$(A)|a|x|p|unset\n');
});

test('a volume whose secret is missing keeps a pod from starting', async () => {
  lab.place('p', { volumes: [{ name: 'v', secret: { secretName: 'none' } }], containers: [sh('exit 0')] });
  const told = new Promise<void>((resolve) => {
    lab.store.onChange(({ kind }) => kind === 'events' && resolve());
  });
  await told;
  expect(lab.events('p')).toEqual([
    'Warning FailedMount MountVolume.SetUp failed for volume "v" : secret "none" not found',
  ]);
  expect(stateOf(await lab.until('p', isWaiting('ContainerCreating')))).toEqual({
    waiting: { reason: 'ContainerCreating' },
  });
});

test.each([
  ['/nope', 'exec: "/nope": stat /nope: no such file or directory: unknown'],
  ['nopenope', 'exec: "nopenope": executable file not found in $PATH: unknown'],
  ['/etc/passwd', 'exec: "/etc/passwd": permission denied: unknown'],
])('a program that cannot be started fails the pod with 128: %s', async (program, text) => {
  lab.place('p', { containers: [{ name: 'main', image: 'x', command: [program] }] });
  const pod = await lab.until('p', hasEnded);
  expect(stateOf(pod)?.terminated).toMatchObject({
    ...{ exitCode: 128, reason: 'StartError', startedAt: '1970-01-01T00:00:00Z' },
    message: expect.stringContaining(text),
  });
});

test('a pod past its deadline is kept, and failed whatever its container ended with', async () => {
  const containers = [sh('trap "exit 0" TERM; while :; do sleep 0.05; done')];
  lab.place('p', { activeDeadlineSeconds: 1, containers });
  const pod = await lab.until('p', hasEnded);
  expect(pod.status).toMatchObject({
    ...{ phase: 'Failed', reason: 'DeadlineExceeded' },
    message: 'Pod was active on the node longer than the specified deadline',
  });
  expect(lab.get('p')).toBe(pod);
});

test('what a container leaves running ends with it', async () => {
  lab.place('p', { containers: [sh('(sleep 60; echo late) & echo done')] });
  expect((await lab.until('p', hasEnded)).status.phase).toBe('Succeeded');
  expect(lab.log('p')).toBe('done\n');
});
