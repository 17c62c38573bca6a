import { inShell, LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

describeLive('jobs that do not start', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  test('a program that is not there is told by its name', async () => {
    const live = new LiveCase(site, site.backend(), {
      job: { payload: new Map(), program: { entrypoint: ['/no/such/program'], env: {} } },
    });
    const { outcome, isRetried, reason } = await live.run();
    expect([outcome, isRetried]).toEqual(['harness COMMAND_NOT_FOUND', false]);
    expect(reason).toMatch(/\/no\/such\/program/);
  }, 120_000);

  test.each([
    ['a program', inShell('exit 0')],
    ['the wrapper', {}],
  ])(
    'what keeps %s from starting is told, and its patience ends',
    async (_, input) => {
      const patience = { startMs: 15_000 };
      const live = new LiveCase(site, site.backend({ patience }), input);
      // What it is to be given is taken away before it starts.
      const secrets = async (): Promise<true> => {
        const names = (await live.owned(site.path('secrets'))).map(
          ({ metadata }) => (metadata as { name: string }).name,
        );
        await Promise.all(names.map((name) => site.admin.remove(site.path(`secrets/${name}`))));
        return true;
      };
      await live.backend.submit(live.job, live.ref, secrets);
      await live.watch();
      const last = live.events.at(-1);
      await live.stop();
      expect(last).toMatchObject({ kind: 'failed' });
      expect(last?.kind === 'failed' && last.failure.message).toMatch(/not found/);
    },
    120_000,
  );

  test('a namespace whose policy does not take such pods says so at once', async () => {
    const strict = await Site.open({ labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
    try {
      const { outcome, isRetried, reason, tookMs } = await new LiveCase(strict, strict.backend(), {}).run();
      expect([outcome, isRetried]).toEqual(['config BAD_SPEC', false]);
      expect(reason).toMatch(/violates PodSecurity "restricted/);
      expect(tookMs).toBeLessThan(30_000);
    } finally {
      await strict.close();
    }
  }, 180_000);

  test('a runtime class that is not there is a fault of the spec', async () => {
    const { outcome, reason } = await new LiveCase(site, site.backend({ spec: { runtimeClass: 'nope' } }), {}).run();
    expect(outcome).toBe('config BAD_SPEC');
    expect(reason).toMatch(/RuntimeClass "nope" not found/);
  }, 120_000);
});
