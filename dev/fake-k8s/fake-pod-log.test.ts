import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Answer } from '../fake-http/fake-answer.js';
import { EventRecorder } from './fake-events.js';
import { FakeImages } from './fake-images.js';
import { FakeKubelet } from './fake-kubelet.js';
import type { Container, Pod, PodSpec } from './fake-objects.js';
import { type LogTrouble, logAnswer } from './fake-pod-log.js';
import { FakeStore } from './fake-store.js';

const root = mkdtempSync(path.join(tmpdir(), 'fake-pod-log-'));
const store = new FakeStore();
const images = new FakeImages();
const kubelet = new FakeKubelet(store, {
  node: 'rack-1',
  root,
  images,
  events: new EventRecorder(store),
  pace: { removeMs: 300 },
});
const troubles: LogTrouble[] = [];
const host = { troubles, kubeletOf: (node: string) => (node === 'rack-1' ? kubelet : undefined) };
const NEVER = new AbortController().signal;

afterAll(async () => {
  await kubelet.close();
  rmSync(root, { recursive: true, force: true });
});

const sh = (script: string, rest: Partial<Container> = {}): Container => ({
  ...{ name: 'main', image: 'x:1', command: ['/bin/sh', '-c', script] },
  ...rest,
});

let made = 0;

async function place(spec: Partial<PodSpec> & { containers: Container[] }, isSo: (pod: Pod) => boolean): Promise<Pod> {
  const name = `p${++made}`;
  const found = new Promise<Pod>((resolve) => {
    store.onChange(({ kind, object }) => {
      if (kind === 'pods' && object.metadata.name === name && isSo(object as Pod)) resolve(object as Pod);
    });
  });
  store.create('pods', 'evals', {
    metadata: { name },
    spec: { nodeName: 'rack-1', ...spec },
    status: { phase: 'Pending' },
  });
  return found;
}

const hasEnded = ({ status }: Pod): boolean => status.phase === 'Succeeded' || status.phase === 'Failed';
const isRunning = ({ status }: Pod): boolean => status.phase === 'Running';
const waitsFor =
  (reason: string) =>
  ({ status }: Pod): boolean =>
    status.containerStatuses?.some(({ state }) => state.waiting?.reason === reason) ?? false;

async function textOf(answer: Answer): Promise<string> {
  if (typeof answer === 'string') return answer;
  if (!('stream' in answer)) return String(answer.body);
  let text = '';
  for await (const piece of answer.stream(NEVER)) text += piece.toString();
  return text;
}

/** Once it has written something. */
async function speaking(pod: Pod): Promise<Pod> {
  const log = kubelet.runOf(pod)?.main[0]?.log;
  while (log && !log.start.next) await log.more(NEVER);
  return pod;
}

const ask = (pod: Pod, query = '') => logAnswer(host, pod, new URLSearchParams(query));
const refusal = (status: number, message: string) => ({ status, body: expect.objectContaining({ message }) });

test('a log is text, with what is asked for of it', async () => {
  const pod = await place({ containers: [sh('echo one; echo two')] }, hasEnded);
  expect(ask(pod)).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain' } });
  expect(await textOf(ask(pod))).toBe('one\ntwo\n');
  expect(await textOf(ask(pod, 'container=main&tailLines=1&follow=maybe'))).toBe('two\n');
  expect(await textOf(ask(pod, 'timestamps=true&limitBytes=11'))).toMatch(/^\d{4}-\d\d-\d\dT$/);
  expect(await textOf(ask(pod, 'sinceTime=2100-01-01T00:00:00Z'))).toBe('');
});

test.each([
  ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['sinceTime=abc', 400, 'parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006"'],
  ['limitBytes=0', 422, 'PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=0', 422, 'PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'],
  [
    'tailLines=-1',
    422,
    'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['stream=Stderr', 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'],
  ['container=x', 400, 'container x is not valid for pod p'],
  ['', 400, 'a container name must be specified for pod p, choose one of: [main istio-proxy]'],
])('what cannot be asked is refused: %s', (query, status, message) => {
  const spec: PodSpec = { containers: [sh(''), sh('', { name: 'istio-proxy' })] };
  const pod: Pod = {
    metadata: { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    ...{ spec, status: { phase: 'Pending' } },
  };
  expect(ask(pod, query)).toMatchObject(refusal(status, message));
});

test('K03 what waits to start has no log yet, and says why', async () => {
  images.rules.set('nope:1', 'not-found');
  const image = { containers: [sh('', { image: 'nope:1' })] };
  const failed = await place(image, waitsFor('ErrImagePull'));
  const subject = (pod: Pod) => `container "main" in pod "${pod.metadata.name}" is waiting to start:`;
  expect(ask(failed)).toMatchObject(refusal(400, `${subject(failed)} image can't be pulled`));
  const backedOff = await place(image, waitsFor('ImagePullBackOff'));
  expect(ask(backedOff)).toMatchObject(refusal(400, `${subject(backedOff)} trying and failing to pull image`));
  const initializing = await place(
    { initContainers: [sh('sleep 60', { name: 'init' })], containers: [sh('')] },
    waitsFor('PodInitializing'),
  );
  expect(ask(initializing)).toMatchObject(refusal(400, `${subject(initializing)} PodInitializing`));
});

test('before a pod is on a node there is nothing, and a node that is gone is an error without a reason', async () => {
  const pod = await speaking(await place({ containers: [sh('echo on; sleep 60')] }, isRunning));
  const unplaced: Pod = { ...pod, spec: { ...pod.spec, nodeName: undefined } };
  expect(ask(unplaced)).toMatchObject({ status: 204 });
  expect(await textOf(ask(unplaced))).toBe('');

  const followed = textOf(ask(pod, 'follow=true'));
  kubelet.goDown(false);
  expect(await followed).toBe('on\n');
  const answer = ask(pod);
  expect(answer).toMatchObject({ status: 500, body: { message: expect.stringContaining('connection refused') } });
  expect(answer).not.toHaveProperty('body.reason');
  kubelet.comeBack();
});

test('the log of a pod that has just been deleted is text that says so, with status 200', async () => {
  const pod = await place(
    { containers: [sh('trap "echo bye; exit 0" TERM; echo on; while :; do sleep 0.05; done')] },
    isRunning,
  ).then(speaking);
  const followed = textOf(ask(pod, 'follow=true'));
  const { name } = pod.metadata;
  store.remove('pods', 'evals', name, { graceSeconds: 5 });
  expect(await followed).toBe('on\nbye\n');
  await kubelet.runOf(pod)?.finished;
  const [status] = store.get('pods', 'evals', name)?.status.containerStatuses ?? [];
  expect(status?.containerID).toMatch(/^containerd:/);
  expect(await textOf(ask(pod))).toBe(`unable to retrieve container logs for ${status?.containerID}`);
});

test('a container that is started again has a log of its own, and the one before', async () => {
  const pod = await place({ containers: [sh('echo once; sleep 60')] }, isRunning).then(speaking);
  expect(ask(pod, 'previous=true')).toMatchObject(
    refusal(400, `previous terminated container "main" in pod "${pod.metadata.name}" not found`),
  );
  const again = new Promise<Pod>((resolve) => {
    store.onChange(({ kind, object }) => {
      const [status] = kind === 'pods' ? ((object as Pod).status.containerStatuses ?? []) : [];
      if (status?.restartCount === 1 && status.state.running) resolve(object as Pod);
    });
  });
  kubelet.runOf(pod)?.main[0]?.restart();
  const { status } = await again;
  expect(status.containerStatuses).toMatchObject([{ lastState: { terminated: { exitCode: 137 } } }]);
  expect(await textOf(ask(pod, 'previous=true'))).toBe('once\n');
});

test('reads are troubled as a script says, and no more often', async () => {
  const pod = await place({ containers: [sh('echo one; echo two')] }, hasEnded);
  const { name } = pod.metadata;
  troubles.push({ pod: name, isFollowed: true, times: 1, fault: { how: 'end', afterBytes: 5 } });
  expect(await textOf(ask(pod))).toBe('one\ntwo\n');
  expect(await textOf(ask(pod, 'follow=true'))).toBe('one\nt');
  expect(await textOf(ask(pod, 'follow=true'))).toBe('one\ntwo\n');
  const text = 'failed to open log file "/var/log/pods/main/0.log": no such file or directory';
  troubles.push({ pod: name, times: 1, text });
  expect(await textOf(ask(pod))).toBe(text);
});
