import { hasEnded, isRunning, isWaiting, KubeletLab, NAMESPACE, sh, stateOf } from '../../test/kubelet-lab.js';
import type { Pod } from './fake-objects.js';

let lab: KubeletLab;

beforeEach(() => {
  lab = new KubeletLab();
});

afterEach(() => lab.close());

describe('a pod that is deleted', () => {
  test('and answers TERM with 0 has succeeded before it is gone', async () => {
    lab.place('p', { containers: [sh('trap "echo bye; exit 0" TERM; echo on; while :; do sleep 0.05; done')] });
    await lab.speaking('p');
    const gone = lab.gone('p');
    lab.store.remove('pods', NAMESPACE, 'p', { graceSeconds: 5 });
    // Its containers and its phase are told at once.
    const ended = await lab.until('p', (pod) => stateOf(pod)?.terminated !== undefined);
    expect(ended).toMatchObject({ status: { phase: 'Succeeded' }, metadata: { deletionGracePeriodSeconds: 5 } });
    expect(lab.log('p')).toBe('on\nbye\n');
    expect((await gone).status.phase).toBe('Succeeded');
    expect(lab.events('p').at(-1)).toBe('Normal Killing Stopping container main');
  });

  test('and does not handle TERM is killed after its grace, whatever it would do elsewhere', async () => {
    lab.place('p', { containers: [sh('exec sleep 60')] });
    await lab.until('p', isRunning);
    lab.store.remove('pods', NAMESPACE, 'p', { graceSeconds: 1 });
    const pod = await lab.until('p', hasEnded);
    expect(pod.status.phase).toBe('Failed');
    expect(stateOf(pod)?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
  });

  test('before its container could start has failed with a container that nobody knows', async () => {
    lab.kubelets.images.rules.set('x:1', 'not-found');
    lab.place('p', { containers: [sh('exit 0')] });
    await lab.until('p', isWaiting('ErrImagePull'));
    const gone = lab.gone('p');
    lab.store.remove('pods', NAMESPACE, 'p', { graceSeconds: 30 });
    expect((await gone).status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [
        { state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null } } },
      ],
    });
  });

  test('by force is gone at once, with what it runs', async () => {
    lab.place('p', { containers: [sh('sleep 60 & wait')] });
    const { metadata } = await lab.until('p', isRunning);
    lab.store.remove('pods', NAMESPACE, 'p');
    expect(lab.get('p')).toBeUndefined();
    expect(lab.kubelets.kubeletOf('rack-1')?.runOf({ metadata } as Pod)).toBeUndefined();
    await lab.kubelets.close();
  });
});
