import { Readable } from 'node:stream';
import { type Figures, rounded, spread, type Table } from './figures.js';
import type { BenchPlatform } from './platform.js';

const CASES = 500;
const WAITING = [0, 20_000, 100_000];
const FULL = { id: 'full', version: '1.0.0' };
const ROUNDS = 5;
const RAISED_TO = 8;

/** On the real server: whether a full runtime slows an idle one, and how soon a raised limit is used. */
export async function benchIsolation(platform: BenchPlatform): Promise<Figures> {
  await platform.register('idle', 40, CASES, 'true');
  await platform.call('POST', '/runtimes', { ...FULL, kind: 'local', maxConcurrent: 1 });
  await platform.call('POST', '/harnesses', { ...FULL, kind: 'command', command: 'sleep 3600' });
  // The first run warms everything up.
  await platform.complete('idle');
  const table: Table = {};
  for (const waiting of WAITING) table[`${waiting} wait on the full one`] = await besideFull(platform, waiting);
  return {
    [`${CASES} no-op cases on an idle runtime`]: table,
    'limits raised from 1 to 8 slots': { 'registered → 8 running': spread(await raisedLimits(platform)) },
  };
}

async function besideFull(platform: BenchPlatform, waiting: number): Promise<Record<string, number>> {
  const full = waiting > 0 ? await fill(platform, waiting) : undefined;
  const began = performance.now();
  await platform.complete('idle');
  const seconds = (performance.now() - began) / 1_000;
  if (full !== undefined) {
    await platform.call('POST', `/scorecards/${full}/cancel`);
    await platform.until(full, ({ status }) => status === 'cancelled', 100);
  }
  return { seconds: rounded(seconds, 1), 'cases/s': rounded(CASES / seconds, 1) };
}

/** A scorecard of so many cases on the one slot of the full runtime, the first of which runs. */
async function fill(platform: BenchPlatform, cases: number): Promise<string> {
  const dataset = `full-${cases}`;
  const lines = function* () {
    for (let index = 0; index < cases; index += 1) yield `${JSON.stringify({ id: `case-${index}`, task: 'none' })}\n`;
  };
  await platform.upload(`id=${dataset}&version=1.0.0`, Readable.from(lines()));
  const request = { dataset, harness: FULL.id, runtime: FULL.id };
  const { id } = await platform.call<{ id: string }>('POST', '/scorecards', request);
  await platform.until(id, ({ counts }) => counts.running === 1, 100);
  return id;
}

async function raisedLimits(platform: BenchPlatform): Promise<number[]> {
  await platform.register('raised', 1, 2 * RAISED_TO, 'sleep 600');
  const times: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const version = (minor: number, maxConcurrent: number) =>
      platform.call('POST', '/runtimes', {
        id: 'raised',
        version: `1.${round}.${minor}`,
        kind: 'local',
        maxConcurrent,
      });
    await version(0, 1);
    const scorecard = await platform.submit('raised');
    await platform.until(scorecard, ({ counts }) => counts.running === 1);
    const began = performance.now();
    await version(1, RAISED_TO);
    await platform.until(scorecard, ({ counts }) => counts.running === RAISED_TO);
    times.push(performance.now() - began);
    await platform.call('POST', `/scorecards/${scorecard}/cancel`);
    await platform.until(scorecard, ({ status }) => status === 'cancelled', 100);
  }
  return times;
}
