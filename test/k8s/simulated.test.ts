import { setTimeout as sleep } from 'node:timers/promises';
import { startStack } from '../../dev/launcher.js';
import { E2ePlatform, MINUTE } from '../e2e/platform.js';
import { PodCounter } from './pod-counter.js';
import { describeLive, hasNodes, Site } from './site.js';
import { connectionsTo, readsOf } from './traffic.js';

const [CASES, SLOTS] = [1_000, 100];
const SIMULATED = {
  nodeSelector: { type: 'kwok' },
  tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists' }],
};
/** Of the worker to one runtime, whatever it has to do: calls and watches. */
const CONNECTIONS = 8 + 2;
/** Of a case in its life, however long that is: that it is new, why it ended, and that nothing is left; the rest of the cluster reads, too. */
const READS = 12;

const testSimulated = (await hasNodes('type=kwok')) ? test : test.skip;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

describeLive('a scorecard on simulated nodes', () => {
  let site: Site;
  let platform: E2ePlatform | undefined;
  beforeAll(async () => {
    site = await Site.open();
  }, 2 * MINUTE);
  afterAll(async () => {
    await platform?.stop();
    await site.close();
  }, 3 * MINUTE);

  testSimulated(
    'a thousand cases run on constant connections, are watched and not asked for, and never more than allowed at once',
    async () => {
      const { admin } = site;
      platform = await E2ePlatform.start((options) =>
        startStack({ ...options, env: { ...options.env, EVERDICT_EGRESS_ALLOW: '0.0.0.0/0,::/0' } }),
      );
      await platform.ok('PUT', '/secrets/kube', { use: 'cluster', value: site.token, origins: [admin.server] });
      const request = await platform.register({
        runtime: { ...site.runtime(SIMULATED), kind: 'k8s', maxConcurrent: SLOTS },
        harness: { command: 'true' },
        cases: Array.from({ length: CASES }, (_, number) => ({ id: `case-${number}`, task: 'none' })),
      });
      const counter = await PodCounter.start(admin, site.path('pods'));
      const [before, begun] = [await readsOf(admin), performance.now()];
      let mostConnections = 0;
      const worker = platform.pid('worker');
      const id = await platform.submit(request);
      for (;;) {
        // Each case that runs has a stream of its log beside.
        mostConnections = Math.max(mostConnections, (await connectionsTo(admin.server, worker)) - counter.running);
        const { status } = await platform.scorecard(id);
        if (status === 'completed') break;
        await sleep(500);
      }
      const seconds = (performance.now() - begun) / 1_000;
      const reads = (await readsOf(admin)) - before;
      counter.stop();
      say(`${CASES} cases on simulated nodes: ${seconds.toFixed(1)} s, ${reads} reads, ${counter.peak} at once`);
      expect(counter.seen).toBe(CASES);
      expect(counter.peak).toBeLessThanOrEqual(SLOTS);
      expect(reads).toBeLessThan(CASES * READS);
      expect(mostConnections).toBeLessThanOrEqual(CONNECTIONS + SLOTS);
      // Simulated jobs print no record: none of them is taken for a success.
      expect((await platform.scorecard(id)).counts).toMatchObject({ settled: CASES, passed: 0, errored: CASES });
      await platform.expectNothingLeft(id, request.runtime);
      expect(await site.left()).toEqual([]);
    },
    25 * MINUTE,
  );
});
