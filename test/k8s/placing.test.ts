import { LiveCase, type LiveInput } from './live-case.js';
import { aNode, tainted } from './nodes.js';
import { type BackendOptions, describeLive, Site } from './site.js';

const SOON = { placementPatienceSec: 6 };
const ALL = { cpuMillicores: 10, memoryMb: 16 };

describeLive('placement', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  const run = (options: BackendOptions, input: LiveInput = {}) =>
    new LiveCase(site, site.backend(options), input).run();

  const quota = async (hard: Record<string, string>, work: (path: string) => Promise<void>): Promise<void> => {
    const path = site.path('resourcequotas/limits');
    await site.admin.post(site.path('resourcequotas'), { metadata: { name: 'limits' }, spec: { hard } });
    try {
      await work(path);
    } finally {
      await site.admin.remove(path);
      await site.admin.gone(path);
    }
  };

  test('K31 a job that no node takes waits as long as its runtime says, and tells why', async () => {
    const node = await aNode(site.admin);
    const selector = { nodeSelector: { 'everdict-test': 'nowhere' } };
    const [unmatched, graphics] = await Promise.all([
      run({ spec: { ...SOON, ...selector } }),
      run({ spec: SOON }, { job: { resources: { gpu: 1 } } }),
    ]);
    expect([unmatched.outcome, unmatched.isRetried]).toEqual(['infra PLACEMENT_TIMEOUT', true]);
    expect(unmatched.waiting.join()).toMatch(/didn't match/);
    expect(unmatched.reason).toMatch(/didn't match/);
    expect(graphics.outcome).toBe('infra PLACEMENT_TIMEOUT');
    expect(graphics.reason).toMatch(/nvidia\.com\/gpu/);

    const taint = { key: 'everdict-test', effect: 'NoSchedule' };
    const key = taint.key;
    await tainted(site.admin, node.name, taint, async () => {
      const [kept, tolerated] = await Promise.all([
        run({ spec: { ...SOON, nodeSelector: node.selector } }),
        run({ spec: { nodeSelector: node.selector, tolerations: [{ key, operator: 'Exists' }] } }),
      ]);
      expect(kept.outcome).toBe('infra PLACEMENT_TIMEOUT');
      expect(kept.reason).toMatch(/taint/);
      expect(tolerated.outcome).toBe('passed');
    });
  }, 180_000);

  test('K19 a quota that is used up is waited for, and named', async () => {
    const job = { resources: ALL };
    await quota({ 'limits.memory': '8Mi', 'requests.memory': '8Mi' }, async (path) => {
      const { outcome, reason, waiting } = await run({ spec: SOON }, { job });
      expect(outcome).toBe('infra PLACEMENT_TIMEOUT');
      expect(reason).toMatch(/quota limits is used up/);
      expect(waiting.join()).toMatch(/quota limits is used up/);

      const live = new LiveCase(site, site.backend(), { job });
      const freed = await live.run(async () => {
        await live.waits(/quota limits/);
        await site.admin.patch(path, { spec: { hard: { 'limits.memory': '1Gi', 'requests.memory': '1Gi' } } });
      });
      expect(freed.outcome).toBe('passed');
    });
  }, 240_000);

  test('K19 a quota for which the case must say more is a fault of its spec, at once', async () => {
    await quota({ 'limits.cpu': '4', 'requests.cpu': '4' }, async () => {
      const { outcome, reason, isRetried, tookMs } = await run({});
      expect([outcome, isRetried]).toEqual(['config BAD_SPEC', false]);
      expect(reason).toMatch(/must specify/);
      expect(tookMs).toBeLessThan(30_000);
    });
  }, 120_000);

  test('a quota of jobs is waited for, and named', async () => {
    await quota({ 'count/jobs.batch': '0' }, async () => {
      const live = new LiveCase(site, site.backend({ spec: SOON }), {});
      const unplaced = expect.stringMatching(/quota limits is used up .*count\/jobs\.batch/);
      expect(await live.backend.submit(live.job, live.ref)).toEqual({ unplaced });
      await live.stop();
    });
  }, 120_000);
});
