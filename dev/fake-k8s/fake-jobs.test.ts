import { aSpec, NAMESPACE, openCluster, until } from '../../test/fake-k8s-lab.js';
import { deleteObject } from './fake-deletion.js';
import type { Job } from './fake-objects.js';

const opened: ReturnType<typeof openCluster>[] = [];
const open = (options: Parameters<typeof openCluster>[0] = {}) => {
  const lab = openCluster(options);
  opened.push(lab);
  return lab;
};
afterEach(() => {
  for (const { cluster } of opened.splice(0)) cluster.close();
});

const resume = ({ store }: ReturnType<typeof openCluster>, name: string, suspend = false) =>
  store.update('jobs', NAMESPACE, name, ({ spec }) => {
    spec.suspend = suspend;
  });
const FOR_A_WHILE = { template: { spec: aSpec({ terminationGracePeriodSeconds: 5 }) } };

describe('a Job of the fake', () => {
  test('has a pod that is its own, by label, owner and finalizer', async () => {
    const lab = open();
    const { metadata } = lab.create('own');
    const pod = await lab.placed('own');
    expect(pod).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^own-[a-z0-9]{5}$/),
        labels: { 'batch.kubernetes.io/job-name': 'own', 'controller-uid': metadata.uid },
        ownerReferences: [{ kind: 'Job', name: 'own', uid: metadata.uid, controller: true }],
        finalizers: ['batch.kubernetes.io/job-tracking'],
      },
      status: { phase: 'Pending' },
    });
    expect(lab.told('own')).toEqual(
      expect.arrayContaining([`Normal SuccessfulCreate Created pod: ${pod.metadata.name}`]),
    );
    await until(lab.store, () => lab.job('own')?.status.active);
    expect(lab.job('own')?.status).toMatchObject({ active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  });

  test('that is suspended has no pod until it is resumed, and says so', async () => {
    const lab = open();
    lab.create('s', { suspend: true });
    expect(await lab.condition('s', 'Suspended')).toMatchObject({ reason: 'JobSuspended' });
    expect(lab.job('s')?.status).not.toHaveProperty('active');
    expect(lab.podsOf('s')).toEqual([]);
    resume(lab, 's');
    expect(await lab.condition('s', 'Suspended', 'False')).toMatchObject({ reason: 'JobResumed' });
    await lab.placed('s');
  });

  test('that is suspended while it runs deletes its pod, and counts nothing', async () => {
    const lab = open();
    lab.create('s', FOR_A_WHILE);
    const pod = await lab.placed('s');
    lab.phase(pod, 'Running');
    resume(lab, 's', true);
    await until(lab.store, () => lab.podsOf('s')[0]?.metadata.deletionTimestamp);
    lab.store.remove('pods', NAMESPACE, pod.metadata.name);
    await lab.condition('s', 'Suspended');
    expect(lab.podsOf('s')).toEqual([]);
    expect(lab.job('s')?.status).not.toHaveProperty('failed');
  });

  test('ends with its pod: first the target, then the end, and its pod is released', async () => {
    const lab = open();
    lab.create('f');
    const said: string[] = [];
    lab.store.onChange(({ kind, object }) => {
      if (kind === 'jobs') said.push(((object as Job).status.conditions ?? []).map(({ type }) => type).join());
    });
    lab.phase(await lab.placed('f'), 'Failed');
    expect(await lab.condition('f', 'FailureTarget')).toMatchObject({ reason: 'BackoffLimitExceeded' });
    expect(await lab.condition('f', 'Failed')).toMatchObject({
      message: 'Job has reached the specified backoff limit',
    });
    expect(lab.job('f')?.status).toMatchObject({ failed: 1, terminating: 0 });
    expect(said.slice(-2)).toEqual(['FailureTarget', 'FailureTarget,Failed']);
    expect(lab.podsOf('f')[0]?.metadata).not.toHaveProperty('finalizers');

    lab.create('c');
    lab.phase(await lab.placed('c'), 'Succeeded');
    expect(await lab.condition('c', 'Complete')).toMatchObject({ reason: 'CompletionsReached' });
    expect(lab.job('c')?.status).toMatchObject({ succeeded: 1, completionTime: expect.any(String) });
  });

  test('whose pod is deleted counts it as failed at once, and ends when it is gone', async () => {
    const lab = open();
    lab.create('d', FOR_A_WHILE);
    const pod = await lab.placed('d');
    deleteObject(lab.store, 'pods', pod);
    await lab.condition('d', 'FailureTarget');
    expect(lab.job('d')?.status.conditions).toHaveLength(1);
    lab.store.remove('pods', NAMESPACE, pod.metadata.name);
    await lab.condition('d', 'Failed');
  });

  test('that replaces failed pods only waits for the end of one that is deleted', async () => {
    const lab = open();
    lab.create('w', { ...FOR_A_WHILE, podReplacementPolicy: 'Failed' });
    const pod = await lab.placed('w');
    deleteObject(lab.store, 'pods', pod);
    await until(lab.store, () => lab.job('w')?.status.terminating === 1);
    expect(lab.job('w')?.status).not.toHaveProperty('conditions');
    lab.phase(pod, 'Succeeded');
    lab.store.remove('pods', NAMESPACE, pod.metadata.name);
    await lab.condition('w', 'Complete');
  });

  test('makes a second pod for one that vanished uncounted', async () => {
    const lab = open();
    lab.create('v');
    const first = await lab.placed('v');
    lab.store.update('pods', NAMESPACE, first.metadata.name, ({ metadata }) => {
      metadata.finalizers = [];
    });
    lab.store.remove('pods', NAMESPACE, first.metadata.name);
    expect((await lab.placed('v')).metadata.uid).not.toBe(first.metadata.uid);
  });

  test('past its deadline loses its pod, and fails even if that was never placed', async () => {
    const lab = open({ nodes: [], pace: { secondMs: 20 } });
    lab.create('late', { activeDeadlineSeconds: 2 });
    expect(await lab.condition('late', 'Failed')).toMatchObject({
      ...{ reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' },
    });
    expect(lab.job('late')?.status.failed).toBe(1);
    expect(lab.podsOf('late')).toEqual([]);
  });

  test('goes with its pod and what it owns when its life after the end is over', async () => {
    const lab = open({ pace: { secondMs: 20 } });
    const { metadata } = lab.create('ttl', { ttlSecondsAfterFinished: 1 });
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'ttl', uid: metadata.uid };
    lab.store.create('secrets', NAMESPACE, { metadata: { name: 'ttl-p', ownerReferences: [owner] } });
    lab.phase(await lab.placed('ttl'), 'Succeeded');
    await until(lab.store, () => !lab.job('ttl') && lab.podsOf('ttl').length === 0);
    await until(lab.store, () => lab.store.list('secrets', NAMESPACE).length === 0);
  });
});

describe('what a Job owns', () => {
  test('stays where the Job is deleted without a policy', async () => {
    const lab = open();
    const job = lab.create('o');
    await lab.placed('o');
    deleteObject(lab.store, 'jobs', job);
    await until(lab.store, () => !lab.job('o'));
    expect(lab.podsOf('o')[0]?.metadata).not.toHaveProperty('ownerReferences');
  });

  test('goes first where the Job is deleted in the foreground', async () => {
    const lab = open();
    const job = lab.create('g', FOR_A_WHILE);
    const pod = await lab.placed('g');
    deleteObject(lab.store, 'jobs', job, { propagationPolicy: 'Foreground' });
    await until(lab.store, () => lab.podsOf('g')[0]?.metadata.deletionTimestamp);
    expect(lab.job('g')).toBeDefined();
    lab.store.remove('pods', NAMESPACE, pod.metadata.name);
    await until(lab.store, () => !lab.job('g'));
  });

  test('goes if its owner never was', async () => {
    const lab = open();
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'nobody' };
    lab.store.create('secrets', NAMESPACE, { metadata: { name: 'lost', ownerReferences: [owner] } });
    await until(lab.store, () => lab.store.list('secrets', NAMESPACE).length === 0);
  });
});
