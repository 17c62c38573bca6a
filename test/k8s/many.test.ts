import { setTimeout as sleep } from 'node:timers/promises';
import { LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';
import { connectionsTo, readsOf } from './traffic.js';

const CASES = 100;
const QUIET_MS = 20_000;
/** Of one runtime, whatever it has to do: calls and watches. The administrator of the tests has as many calls. */
const CONNECTIONS = 8 + 2 + 8;

describeLive('many cases', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  test('cases of which nothing is heard share their connections, and ask nothing', async () => {
    const backend = site.backend({ spec: { nodeSelector: { 'everdict-test': 'nowhere' }, placementPatienceSec: 600 } });
    const lives = Array.from({ length: CASES }, () => new LiveCase(site, backend, {}));
    await Promise.all(lives.map((live) => live.submit()));
    const watching = Promise.all(lives.map((live) => live.watch()));
    await Promise.all(lives.map((live) => live.waits(/didn't match/)));
    const before = await readsOf(site.admin);
    await sleep(QUIET_MS);
    // What the rest of the cluster asks of single objects is among them.
    expect((await readsOf(site.admin)) - before).toBeLessThan(CASES);
    expect(await connectionsTo(site.admin.server)).toBeLessThanOrEqual(CONNECTIONS);
    for (const live of lives) live.leave();
    await watching;
    await Promise.all(lives.map((live) => live.stop()));
  }, 300_000);
});
