import { conditionsOf, hasEnded, KubeletLab, NAMESPACE, sh, stateOf } from '../../test/kubelet-lab.js';
import type { Node, Pod } from './fake-objects.js';

let lab: KubeletLab;

beforeEach(() => {
  lab = new KubeletLab();
});

afterEach(() => lab.close());

/** With a script that says something at once. */
async function running(script: string, name = 'p'): Promise<Pod> {
  lab.place(name, { containers: [sh(script)] });
  return lab.speaking(name);
}

test('K11 memory that runs out kills a container, or a child of it alone, and the reason is the same', async () => {
  await running('sleep 60 & echo on; wait');
  lab.faults.outOfMemory('p');
  const killed = await lab.until('p', hasEnded);
  expect(killed.status.phase).toBe('Failed');
  expect(stateOf(killed)?.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });

  await running('sleep 60 & echo on; wait $!; echo killed; exit 0', 'child');
  lab.faults.outOfMemory('child', { isChild: true });
  const succeeded = await lab.until('child', hasEnded);
  expect(succeeded.status.phase).toBe('Succeeded');
  expect(stateOf(succeeded)?.terminated).toMatchObject({ exitCode: 0, reason: 'OOMKilled' });
  expect(lab.log('child')).toContain('killed\n');
});

test.each([
  ['evict', 'EvictionByEvictionAPI'],
  ['preempt', 'PreemptionByScheduler'],
] as const)('a pod that has to %s says so to its end', async (fault, reason) => {
  await running('trap "exit 0" TERM; echo on; while :; do sleep 0.05; done');
  const gone = lab.gone('p');
  lab.faults[fault]('p');
  const pod = await gone;
  expect(conditionsOf(pod)).toMatchObject({ DisruptionTarget: reason, Ready: 'PodCompleted' });
  expect(pod.status.phase).toBe('Succeeded');
});

test('K11 a pod that its node throws out is kept as evicted; of storage nothing says that it was disrupted', async () => {
  await running('echo on; sleep 60');
  lab.faults.evictForMemory('p');
  const pod = await lab.until('p', hasEnded);
  expect(pod.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  expect(pod.status.message).toMatch(/^The node was low on resource: memory\./);
  expect(conditionsOf(pod).DisruptionTarget).toBe('TerminationByKubelet');
  expect(stateOf(pod)?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });

  await running('echo on; sleep 60', 'full');
  lab.faults.exceedStorage('full');
  const full = await lab.until('full', hasEnded);
  expect(full.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  expect(conditionsOf(full)).not.toHaveProperty('DisruptionTarget');
  expect(lab.events('full')).toContainEqual(expect.stringMatching(/^Warning Evicted Pod ephemeral local storage/));
});

test('a node that dies tells nothing, and when it is back its pods have failed with 255', async () => {
  await running('echo on; sleep 60');
  await running('echo on; sleep 60', 'deleted');
  lab.faults.killNode('rack-1');
  await new Promise<void>((resolve) => {
    lab.store.onChange(({ kind, object }) => {
      if (kind === 'nodes' && (object as Node).spec.taints?.length === 2) resolve();
    });
  });

  lab.faults.deletePod('deleted', 5);
  lab.place('late', { containers: [sh('exit 0')] });
  const hung = lab.get('deleted');
  expect(hung).toMatchObject({ status: { phase: 'Running' }, metadata: { deletionGracePeriodSeconds: 5 } });

  const gone = lab.gone('deleted');
  lab.faults.returnNode('rack-1');
  expect(lab.store.get('nodes', '', 'rack-1')?.spec.taints).toEqual([]);
  const pod = await lab.until('p', hasEnded);
  expect(pod.status.phase).toBe('Failed');
  expect(stateOf(pod)?.terminated).toMatchObject({ exitCode: 255, reason: 'Unknown' });
  await gone;
  expect((await lab.until('late', hasEnded)).status.phase).toBe('Succeeded');
});

test('a node that was out of reach has gone on meanwhile', async () => {
  await running('echo on; sleep 0.3; echo off');
  lab.faults.killNode('rack-1', { isKilled: false });
  const run = lab.kubelets.kubeletOf('rack-1')?.runOf(lab.get('p') as Pod);
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (run?.main[0]?.log.isEnded) resolve(clearInterval(timer));
    }, 10);
  });
  expect(lab.get('p')?.status.phase).toBe('Running');
  lab.faults.returnNode('rack-1');
  expect((await lab.until('p', hasEnded)).status.phase).toBe('Succeeded');
  expect(lab.log('p')).toBe('on\noff\n');
});

test('a pod on a dead node that is deleted by force is forgotten when that is back', async () => {
  const pod = await running('echo on; sleep 60');
  lab.faults.killNode('rack-1', { isKilled: false });
  lab.store.remove('pods', NAMESPACE, 'p');
  const kubelet = lab.kubelets.kubeletOf('rack-1');
  const run = kubelet?.runOf(pod);
  lab.faults.returnNode('rack-1');
  expect(kubelet?.runOf(pod)).toBeUndefined();
  await run?.finished;
  expect(run?.main[0]?.isRunning).toBe(false);
});

test('a log that is rotated or removed is not there for who asks anew', async () => {
  const pod = await running('echo one; exec sleep 60');
  const text = async (): Promise<string> => {
    const answer = lab.kubelets.log(pod, new URLSearchParams());
    if (typeof answer === 'string' || 'body' in answer) return JSON.stringify(answer);
    let read = '';
    for await (const piece of answer.stream(new AbortController().signal)) read += piece.toString();
    return read;
  };
  expect(await text()).toBe('one\n');
  lab.faults.rotateLog('p');
  expect(await text()).toBe('');
  lab.faults.loseLog('p');
  expect(await text()).toContain('unable to retrieve container logs for containerd://');
});
