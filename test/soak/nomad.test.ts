import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../e2e/platform.js';
import { Sampler } from '../e2e/scorecard/sampler.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';
import { allPassed, ECHO, echoes } from './echoes.js';
import { NomadSite } from './nomad-site.js';

let site: NomadSite | undefined;
afterEach(async () => {
  await site?.stop();
  site = undefined;
}, 2 * MINUTE);

const say = (line: string): void => void process.stderr.write(`${line}\n`);

test(
  'a thousand cases lose no result on a Nomad that collects what ends at once, though the worker is killed twice',
  async () => {
    const [cases, slots] = [1_000, 40];
    site = await NomadSite.start({ gcMaxAllocs: 0, randomGc: { everyMs: 50 }, seed: SEED });
    const { platform, nomad } = site;
    const request = await site.register(slots, ECHO, echoes(cases));
    const begun = performance.now();
    const id = await platform.submit(request);
    for (const after of [200, 600]) {
      await eventually(`${after} jobs have started`, async () => nomad.ledger.starts.size >= after, 5 * MINUTE);
      await platform.kill('worker');
    }
    await platform.until(id, 'completes', ({ status }) => status === 'completed', 8 * MINUTE);
    say(`a thousand cases: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    expect((await platform.scorecard(id)).counts).toEqual(allPassed(cases));
    expect(nomad.ledger.peakRunning).toBeLessThanOrEqual(slots);
    expect(nomad.ledger.starts.size).toBe(cases);
    await platform.expectNothingLeft(id, request.runtime);
    expect(site.faults).toEqual([]);
  },
  12 * MINUTE,
);

test(
  'fifty cases settle once each, from one start of their job, though the worker is killed at 20 moments',
  async () => {
    const [cases, slots, kills] = [50, 5, 20];
    site = await NomadSite.start({ gcMaxAllocs: 2, seed: SEED });
    const { platform, nomad } = site;
    const random = randomFor('kills of a worker with jobs on Nomad');
    const request = await site.register(
      slots,
      ECHO,
      echoes(cases, () => random(0, 60) / 10),
    );
    say(`20 kills: EVERDICT_TEST_SEED=${SEED}`);
    const id = await platform.submit(request);
    const sampler = new Sampler(platform, id);
    let inTime = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      // Two jobs start, and things go on for a while; the last ones are struck without waiting.
      await eventually('jobs start', async () => nomad.ledger.starts.size >= Math.min(2 * kill, cases), 2 * MINUTE);
      await sleep(random(0, 1_500));
      if ((await platform.scorecard(id).catch(() => undefined))?.status !== 'completed') inTime += 1;
      await platform.kill('worker');
    }
    await platform.until(id, 'completes', ({ status }) => status === 'completed', 4 * MINUTE);
    await sampler.stop();
    sampler.expectConserved(cases);
    expect(inTime).toBeGreaterThan(kills / 2);
    expect((await platform.scorecard(id)).counts).toEqual(allPassed(cases));
    expect(nomad.ledger.peakRunning).toBeLessThanOrEqual(slots);
    await platform.expectNothingLeft(id, request.runtime);
    expect(site.faults).toEqual([]);
  },
  8 * MINUTE,
);
