import { type Figures, rounded, type Table } from './figures.js';
import type { BenchPlatform } from './platform.js';
import { forgetPeak, peakMb } from './usage.js';

const SLOTS = 8;
const SIZES = [200, 1_000, 10_000];

/** Peak memory of the API and the worker over scorecards of no-op cases, one after another, each larger than the last. */
export async function benchMemory(platform: BenchPlatform): Promise<Figures> {
  const { api, worker } = platform.pids;
  const table: Table = {};
  for (const cases of SIZES) {
    const id = `memory-${cases}`;
    await platform.register(id, SLOTS, cases, 'true');
    for (const pid of [api, worker]) forgetPeak(pid);
    const began = performance.now();
    await platform.complete(id);
    const wallMs = performance.now() - began;
    const casesPerSec = rounded((cases / wallMs) * 1_000, 1);
    table[`${cases} cases`] = { apiMb: peakMb(api), workerMb: peakMb(worker), casesPerSec };
  }
  return { 'peak memory': table };
}
