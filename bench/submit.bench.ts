import { Readable } from 'node:stream';
import { type Figures, rounded, type Table } from './figures.js';
import type { BenchPlatform } from './platform.js';

const SIZES = [10_000, 100_000];
const HEAD = { id: 'large', version: '1.0.0' };

/** Large scorecards: how long a client waits for each of its calls. The scorecard is cancelled while almost all is queued. */
export async function benchSubmit(platform: BenchPlatform): Promise<Figures> {
  await platform.call('POST', '/runtimes', { ...HEAD, kind: 'local', maxConcurrent: 1 });
  await platform.call('POST', '/harnesses', { ...HEAD, kind: 'command', command: 'sleep 60' });
  const table: Table = {};
  for (const cases of SIZES) table[`${cases} cases`] = await largeScorecard(platform, cases);
  return { 'one large scorecard': table };
}

async function largeScorecard(platform: BenchPlatform, cases: number): Promise<Record<string, number>> {
  const dataset = `of-${cases}`;
  const lines = function* () {
    for (let index = 0; index < cases; index += 1) yield `${JSON.stringify({ id: `case-${index}`, task: 'none' })}\n`;
  };
  const times: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    times[name] = rounded(performance.now() - began);
    return result;
  };
  await timed('uploadMs', () => platform.upload(`id=${dataset}&version=1.0.0`, Readable.from(lines())));
  const request = { dataset, harness: HEAD.id, runtime: HEAD.id };
  const { id } = await timed('submitMs', () => platform.call<{ id: string }>('POST', '/scorecards', request));
  await platform.until(id, ({ counts }) => counts.running === 1);
  await timed('showMs', () => platform.scorecard(id));
  await timed('listMs', () => platform.call('GET', '/scorecards'));
  await timed('pageMs', () => platform.call('GET', `/scorecards/${id}/cases?limit=500`));
  await timed('runningMs', () => platform.call('GET', `/scorecards/${id}/cases?state=running`));
  await timed('failedMs', () => platform.call('GET', `/scorecards/${id}/cases?outcome=failed`));
  await timed('cancelMs', () => platform.call('POST', `/scorecards/${id}/cancel`));
  await timed('cancelledMs', () => platform.until(id, ({ status }) => status === 'cancelled'));
  await timed('showAgainMs', () => platform.scorecard(id));
  return times;
}
