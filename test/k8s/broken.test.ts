import { eventually } from '../eventually.js';
import { started, stopped, testStopping } from './hooks.js';
import { inShell, LiveCase } from './live-case.js';
import { aNode } from './nodes.js';
import { describeLive, Site } from './site.js';

describeLive('parts of the cluster that fail', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  const ready = () => eventually('a node takes jobs', () => aNode(site.admin).catch(() => undefined), 120_000);
  const answers = () =>
    eventually(
      'the API server answers',
      async () => (await site.admin.ask('GET', '/readyz').catch(() => undefined))?.status === 200,
      120_000,
    );

  testStopping('node')(
    'a node that was stopped, and is back, lost its job',
    async () => {
      const live = new LiveCase(site, site.backend(), { command: 'echo begun; sleep 300' });
      const { outcome, isRetried, reason, output } = await live.run(async () => {
        await live.prints('begun');
        await stopped('node');
        await started('node');
      });
      await ready();
      expect([outcome, isRetried, output.trim()]).toEqual(['infra NODE_LOST', true, 'begun']);
      expect(reason).toMatch(/node/);
    },
    300_000,
  );

  testStopping('node')(
    'a node that stays away lost its job, which is removed once the node is back',
    async () => {
      const live = new LiveCase(site, site.backend(), { command: 'echo begun; sleep 300' });
      await live.submit();
      const watching = live.watch();
      await live.prints('begun');
      await stopped('node');
      try {
        await watching;
        expect(live.events.at(-1)).toMatchObject({ kind: 'failed', failure: { code: 'NODE_LOST' } });
        await expect(live.stop()).rejects.toMatchObject({ code: 'CLUSTER_UNREACHABLE' });
      } finally {
        await started('node');
        await ready();
      }
      await live.stop();
    },
    600_000,
  );

  testStopping('api-server')(
    'jobs go on while the API server is away, and are told whole',
    async () => {
      const backend = site.backend();
      const command = 'i=0; while [ $i -lt 150 ]; do echo $i; i=$((i + 1)); sleep 0.1; done; exit 4';
      const lives = Array.from({ length: 5 }, () => new LiveCase(site, backend, { command }));
      await Promise.all(lives.map((live) => live.submit()));
      const watching = Promise.all(lives.map((live) => live.watchOn()));
      await Promise.all(lives.map((live) => live.prints('10\n')));
      await stopped('api-server');
      await started('api-server');
      await answers();
      await watching;
      const expected = Array.from({ length: 150 }, (_, i) => `${i}\n`).join('');
      for (const live of lives) {
        expect(live.events.at(-1)).toMatchObject({ kind: 'record', record: { status: 4 } });
        expect(live.output().trim()).toBe(expected.trim());
      }
      await Promise.all(lives.map((live) => live.stop()));
    },
    300_000,
  );

  test('K23 an account that is gone, or a token that is none, is told as that', async () => {
    const other = await Site.open();
    try {
      const backend = other.backend();
      const live = new LiveCase(other, backend, inShell('sleep 300'));
      await live.submit();
      await live.running();
      const accounts = other.path('serviceaccounts/dispatcher');
      await other.admin.remove(accounts);
      await other.admin.gone(accounts);
      await expect(live.watch()).rejects.toMatchObject({ reason: 'auth' });
      await expect(backend.stop(live.ref)).rejects.toMatchObject({ reason: 'auth' });
      await other.admin.post(other.path('serviceaccounts'), { metadata: { name: 'dispatcher' } });
      await other.backend({ token: await other.anotherToken() }).stop(live.ref);
    } finally {
      await other.close();
    }
    const wrong = new LiveCase(site, site.backend({ token: 'no.such.token' }), {});
    await expect(wrong.submit()).rejects.toMatchObject({ reason: 'auth' });
  }, 180_000);
});
