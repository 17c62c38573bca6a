import type { Pod } from '../../backends/k8s/k8s.replies.js';
import { inShell, LiveCase } from './live-case.js';
import { aNode, type LiveNode } from './nodes.js';
import { describeLive, Site } from './site.js';

const SLEEP = 'echo begun; sleep 300';
const OBEYS = `trap 'echo told to end; exit 0' TERM; echo begun; while :; do sleep 0.2; done`;

describeLive('jobs that others end', () => {
  let site: Site;
  let node: LiveNode;
  beforeAll(async () => {
    site = await Site.open();
    node = await aNode(site.admin);
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  const podPath = (pod: Pod): string => site.path(`pods/${pod.metadata.name}`);

  const evict = async (live: LiveCase): Promise<void> => {
    await live.prints('begun');
    const { metadata } = await live.running();
    await site.admin.post(site.path(`pods/${metadata.name}/eviction`), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: metadata.name },
    });
  };

  const remove =
    (options: object = {}) =>
    async (live: LiveCase): Promise<void> => {
      await live.prints('begun');
      await site.admin.remove(podPath(await live.running()), options);
    };

  test('an eviction is of the infrastructure, and says so', async () => {
    const { outcome, isRetried, reason, output } = await new LiveCase(site, site.backend(), { command: SLEEP }).run(
      evict,
    );
    expect([outcome, isRetried, output.trim()]).toEqual(['infra EVICTED', true, 'begun']);
    expect(reason).toMatch(/evict/i);
  }, 180_000);

  test('preemption is of the infrastructure, and says so', async () => {
    const { classes, pods } = { classes: '/apis/scheduling.k8s.io/v1/priorityclasses', pods: site.path('pods') };
    const name = `${site.namespace}-first`;
    await site.admin.post(classes, { metadata: { name }, value: 1_000 });
    try {
      const cpuMillicores = Math.floor(node.cpuMillicores * 0.6);
      const backend = site.backend({ spec: { nodeSelector: node.selector } });
      const live = new LiveCase(site, backend, { command: SLEEP, job: { resources: { cpuMillicores } } });
      const { outcome, isRetried, reason } = await live.run(async () => {
        await live.prints('begun');
        await site.admin.post(pods, node.podOf('preemptor', { priorityClassName: name, cpuMillicores }));
      });
      expect([outcome, isRetried]).toEqual(['infra EVICTED', true]);
      expect(reason).toMatch(/preempt/i);
    } finally {
      await site.admin.remove(`${pods}/preemptor`, { gracePeriodSeconds: 0 });
      await site.admin.remove(`${classes}/${name}`);
    }
  }, 180_000);

  test.each([
    ['killed', SLEEP, {}],
    ['killed at once, by force', SLEEP, { gracePeriodSeconds: 0 }],
  ])(
    'a job whose pod was deleted, and %s, is lost',
    async (_, command, options) => {
      const live = new LiveCase(site, site.backend(), { command });
      const { outcome, isRetried, reason, output } = await live.run(remove(options));
      expect([outcome, isRetried, output.trim()]).toEqual(['infra EVICTED', true, 'begun']);
      expect(reason).toMatch(/deleted/);
    },
    180_000,
  );

  test('a program that ends with 0 when its pod is deleted has not succeeded', async () => {
    const { outcome, isRetried, reason } = await new LiveCase(site, site.backend(), inShell(OBEYS)).run(remove());
    expect([outcome, isRetried]).toEqual(['infra EVICTED', true]);
    expect(reason).toMatch(/deleted/);
  }, 180_000);

  test('a job that was deleted by others is lost', async () => {
    const live = new LiveCase(site, site.backend(), { command: SLEEP });
    const { outcome, isRetried, reason } = await live.run(async () => {
      await live.prints('begun');
      await site.admin.remove(`${site.jobs()}/${live.ref.name}`, { propagationPolicy: 'Background' });
    });
    expect([outcome, isRetried]).toEqual(['infra EVICTED', true]);
    expect(reason).toMatch(/deleted/);
  }, 180_000);

  test('K27 a pod whose job was deleted without it is found, and removed', async () => {
    const live = new LiveCase(site, site.backend(), { command: SLEEP });
    await live.submit();
    await live.running();
    await site.admin.remove(`${site.jobs()}/${live.ref.name}`, { propagationPolicy: 'Orphan' });
    await site.admin.gone(`${site.jobs()}/${live.ref.name}`);
    await live.stop();
  }, 180_000);
});
