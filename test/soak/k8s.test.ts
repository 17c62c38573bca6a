import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../e2e/platform.js';
import { Sampler } from '../e2e/scorecard/sampler.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';
import { allPassed, ECHO, echoes } from './echoes.js';
import { K8sSite } from './k8s-site.js';

let site: K8sSite | undefined;
afterEach(async () => {
  await site?.stop();
  site = undefined;
}, 2 * MINUTE);

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const nothingLeft = (at: K8sSite) =>
  eventually('nothing of ours is left', async () => (at.left.length === 0 ? true : undefined), MINUTE);

/** Strikes one pod that runs, each time another way, and remembers whose it was. */
class Disruptor {
  readonly struck: string[] = [];
  private readonly random = randomFor('disruptions of pods');
  private beats = 0;

  constructor(private readonly at: K8sSite) {}

  beat(): void {
    const { nodes, fake } = this.at.cluster;
    const { watches } = fake.cluster;
    const { random, beats } = this;
    this.beats += 1;
    const upsets = [() => watches.drop(), () => watches.expire(), () => watches.end(), () => fake.store.compact()];
    upsets[beats % 8]?.();
    const { running } = this.at;
    const name = running[random(0, running.length - 1)];
    if (name === undefined || this.struck.includes(name)) return;
    this.struck.push(name);
    const strikes = [
      () => nodes.deletePod(name, random(0, 1)),
      () => nodes.evict(name),
      () => nodes.preempt(name),
      () => nodes.evictForMemory(name),
    ];
    strikes[random(0, strikes.length - 1)]?.();
  }
}

test(
  'five hundred cases settle, each in its class, though pods are deleted and evicted, and watches dropped and expired',
  async () => {
    const [cases, slots, beatMs] = [500, 20, 700];
    site = await K8sSite.start({ seed: SEED });
    const { platform } = site;
    const { ledger } = site.cluster.fake;
    const random = randomFor('lengths of cases on Kubernetes');
    const request = await site.register(
      slots,
      ECHO,
      echoes(cases, () => random(0, 8) / 10),
    );
    say(`500 cases, disrupted: EVERDICT_TEST_SEED=${SEED}`);
    const begun = performance.now();
    const id = await platform.submit(request);
    const disruptor = new Disruptor(site);
    const beats = setInterval(() => disruptor.beat(), beatMs);
    try {
      await platform.until(id, 'completes', ({ status }) => status === 'completed', 8 * MINUTE);
    } finally {
      clearInterval(beats);
    }
    say(`500 cases: ${((performance.now() - begun) / 1_000).toFixed(1)} s, ${disruptor.struck.length} pods struck`);
    const { counts } = await platform.scorecard(id);
    expect(counts).toMatchObject({ settled: cases, failed: 0, cancelled: 0 });
    expect(counts.errored).toBe(counts.infraErrors);
    for (const { id: run, errorCode } of await platform.runs(id, '&outcome=errored')) {
      expect([run, errorCode]).toEqual([run, 'EVICTED']);
      const attempts = await platform.attempts(run);
      expect(attempts.filter(({ allocation }) => !disruptor.struck.includes(allocation))).toEqual([]);
    }
    expect(disruptor.struck.length).toBeGreaterThan(20);
    expect(ledger.peakRunning).toBeLessThanOrEqual(slots);
    // Two for each of the two worker connections that may watch while one follows the other.
    expect(ledger.peaks.watch).toBeLessThanOrEqual(4);
    await platform.expectNothingLeft(id, request.runtime);
    await nothingLeft(site);
    expect(site.doubles).toEqual([]);
  },
  12 * MINUTE,
);

test(
  'fifty cases settle once each, from one start of their pod, though the worker is killed at 20 moments',
  async () => {
    const [cases, slots, kills] = [50, 5, 20];
    site = await K8sSite.start({ seed: SEED });
    const { platform } = site;
    const { ledger } = site.cluster.fake;
    const random = randomFor('kills of a worker with pods on Kubernetes');
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
      // Two pods start, and things go on for a while; the last ones are struck without waiting.
      await eventually('pods start', async () => ledger.starts.size >= Math.min(2 * kill, cases), 2 * MINUTE);
      await sleep(random(0, 1_500));
      if ((await platform.scorecard(id).catch(() => undefined))?.status !== 'completed') inTime += 1;
      await platform.kill('worker');
    }
    await platform.until(id, 'completes', ({ status }) => status === 'completed', 4 * MINUTE);
    await sampler.stop();
    sampler.expectConserved(cases);
    expect(inTime).toBeGreaterThan(kills / 2);
    expect((await platform.scorecard(id)).counts).toEqual(allPassed(cases));
    expect(ledger.peakRunning).toBeLessThanOrEqual(slots);
    await platform.expectNothingLeft(id, request.runtime);
    await nothingLeft(site);
    expect(site.doubles).toEqual([]);
  },
  8 * MINUTE,
);

test(
  'two hundred runs that are cancelled at any moment of their start leave nothing behind',
  async () => {
    const [cancels, atOnce, slowMs, longestMs] = [200, 20, 400, 1_200];
    site = await K8sSite.start({ seed: SEED });
    const { platform, cluster } = site;
    const random = randomFor('cancels of cases on Kubernetes');
    const { runtime, harness, dataset } = await site.register(atOnce, 'sleep 60', [{ id: 'a', task: 'wait' }]);
    // A cancel takes its time, too: calls are so slow that it falls between any two of them.
    for (const method of ['POST', 'PATCH']) cluster.fake.fault({ method, path: /\/(jobs|secrets)/, fault: { slowMs } });
    const one = async (): Promise<string> => {
      const id = await platform.submit({ runtime, harness, dataset });
      // Most are struck once the first call is due, and some while they still wait for it.
      if (random(0, 4) > 0) await eventually('it begins', async () => (await platform.attempts(`${id}.0`))[0], MINUTE);
      await sleep(random(0, longestMs));
      await platform.ok('POST', `/scorecards/${id}/cancel`);
      return id;
    };
    const reached = new Map<string, number>();
    for (let done = 0; done < cancels; done += atOnce) {
      const ids = await Promise.all(Array.from({ length: atOnce }, one));
      for (const id of ids) {
        await platform.until(id, 'is cancelled', ({ status }) => status === 'cancelled', MINUTE);
        const [attempt] = await platform.attempts(`${id}.0`);
        const point = attempt ? (attempt.placedAs ? 'placed' : attempt.submittedAt ? 'submitted' : 'opened') : 'none';
        reached.set(point, (reached.get(point) ?? 0) + 1);
      }
    }
    say(`200 cancels: ${[...reached].map(([point, count]) => `${point} ${count}`).join(', ')}`);
    await nothingLeft(site);
    expect(site.doubles).toEqual([]);
    expect(reached.get('opened') ?? 0).toBeGreaterThan(0);
    expect(reached.get('placed') ?? 0).toBeGreaterThan(0);
  },
  8 * MINUTE,
);
