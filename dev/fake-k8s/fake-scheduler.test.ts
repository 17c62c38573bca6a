import { aSpec, NAMESPACE, openCluster, until } from '../../test/fake-k8s-lab.js';
import type { Pod, PodSpec } from './fake-objects.js';

const opened: ReturnType<typeof openCluster>[] = [];
const open = (options: Parameters<typeof openCluster>[0] = {}) => {
  const lab = openCluster(options);
  opened.push(lab);
  const { store } = lab;
  const get = (name: string) => store.get('pods', NAMESPACE, name);
  return {
    ...lab,
    get,
    pod: (name: string, spec: Partial<PodSpec> = {}): void => {
      const created = lab.cluster.admission.create('pods', NAMESPACE, { metadata: { name }, spec: aSpec(spec) });
      if (!('metadata' in created)) throw new Error(JSON.stringify(created.body));
    },
    bound: (name: string) => until(store, () => get(name)?.spec.nodeName),
    refused: (name: string) =>
      until(store, () => get(name)?.status.conditions?.find(({ reason }) => reason === 'Unschedulable')?.message),
    disrupted: (name: string) =>
      until(store, () => get(name)?.status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason),
  };
};
afterEach(() => {
  for (const { cluster } of opened.splice(0)) cluster.close();
});
const asking = (requests: Record<string, string>): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'x', resources: { requests, limits: requests } }],
});
const NO_HELP =
  'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';

describe('a pod that has no node yet', () => {
  test.each<[string, Partial<PodSpec>, string]>([
    ['a selector', { nodeSelector: { disk: 'ssd' } }, "1 node(s) didn't match Pod's node affinity/selector"],
    ['a GPU', asking({ 'nvidia.com/gpu': '1' }), '1 Insufficient nvidia.com/gpu'],
  ])('is told that no node has %s, in the words of the scheduler', async (_what, spec, reason) => {
    const lab = open();
    lab.pod('p', spec);
    expect(await lab.refused('p')).toBe(`0/1 nodes are available: ${reason}. ${NO_HELP}`);
    expect(lab.store.list('events', NAMESPACE)).toMatchObject([
      { reason: 'FailedScheduling', type: 'Warning', firstTimestamp: null, eventTime: expect.any(String) },
    ]);
    expect(lab.store.list('events')[0]).not.toHaveProperty('count');
  });

  test('waits for a taint or a cordon to end, or bears the taint', async () => {
    const lab = open({ nodes: [{ name: 'node-1', taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }] });
    lab.pod('p');
    lab.pod('bears', { tolerations: [{ key: 'k', operator: 'Exists' }] });
    expect(await lab.bound('bears')).toBe('node-1');
    expect(await lab.refused('p')).toBe(`0/1 nodes are available: 1 node(s) had untolerated taint(s). ${NO_HELP}`);
    lab.store.update('nodes', '', 'node-1', (node) => {
      node.spec = { unschedulable: true };
    });
    await until(lab.store, () => lab.get('p')?.status.conditions?.[0]?.message?.includes('were unschedulable'));
    lab.store.update('nodes', '', 'node-1', (node) => {
      node.spec = {};
    });
    expect(await lab.bound('p')).toBe('node-1');
  });

  test('waits for room, and is placed when another has ended', async () => {
    const lab = open({ nodes: [{ name: 'node-1', capacity: { cpu: '1' } }] });
    lab.pod('first', asking({ cpu: '600m' }));
    await lab.bound('first');
    lab.pod('second', asking({ cpu: '500m' }));
    expect(await lab.refused('second')).toMatch(
      /1 Insufficient cpu\..* 1 No preemption victims found for incoming pod\.$/,
    );
    lab.phase(lab.get('first') as Pod, 'Succeeded');
    await lab.bound('second');
  });

  test('of a higher priority takes the place of another', async () => {
    const lab = open({ nodes: [{ name: 'node-1', capacity: { cpu: '1' } }] });
    lab.pod('low', asking({ cpu: '1' }));
    await lab.bound('low');
    lab.pod('high', { ...asking({ cpu: '1' }), priority: 10 });
    expect(await lab.disrupted('low')).toBe('PreemptionByScheduler');
    expect(lab.told('low')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Normal Preempted Preempted by pod/)]),
    );
    lab.store.remove('pods', NAMESPACE, 'low');
    await lab.bound('high');
  });
});

describe('a node', () => {
  test('that says nothing any more is unknown after a while, and its pods stay until they bear it no longer', async () => {
    const lab = open({ pace: { nodeGraceMs: 5, secondMs: 20 } });
    lab.pod('p', {
      tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 2 }],
    });
    await lab.bound('p');
    const ready = () => lab.get('p')?.status.conditions?.find(({ type }) => type === 'Ready');
    lab.store.update('pods', NAMESPACE, 'p', ({ status }) => {
      status.conditions = [...(status.conditions ?? []), { type: 'Ready', status: 'True' }];
    });
    lab.cluster.nodes.lose('node-1');
    const node = await until(lab.store, () => {
      const found = lab.store.get('nodes', '', 'node-1');
      return found?.spec.taints?.length ? found : undefined;
    });
    expect(node.status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'Unknown' }));
    expect(lab.get('p')?.metadata).not.toHaveProperty('deletionTimestamp');
    expect(ready()).toEqual({ type: 'Ready', status: 'False', lastTransitionTime: expect.any(String) });
    expect(lab.told('p')).toContain('Warning NodeNotReady Node is not ready');
    expect(await lab.disrupted('p')).toBe('DeletionByTaintManager');
    await until(lab.store, () => lab.get('p')?.metadata.deletionTimestamp);
    expect(lab.told('p')).toContain(`Normal TaintManagerEviction Marking for deletion Pod ${NAMESPACE}/p`);
    lab.cluster.nodes.return('node-1');
    expect(ready()?.status).toBe('True');
    expect(lab.store.get('nodes', '', 'node-1')).toMatchObject({ spec: { taints: [] } });
  });

  test('that is no more takes its pods with it', async () => {
    const lab = open();
    lab.pod('p');
    await lab.bound('p');
    lab.store.remove('nodes', '', 'node-1');
    lab.store.update('pods', NAMESPACE, 'p', ({ metadata }) => {
      metadata.labels = { seen: 'late' };
    });
    await until(lab.store, () => !lab.get('p'));
  });
});
