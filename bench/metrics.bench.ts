import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './figures.js';
import type { BenchPlatform } from './platform.js';

const CASES = 10_000;
const TRIALS = 10;
const SCRAPES = 10;
/** Longer than what was read is shown again. */
const APART_MS = 11_000;

/** What it costs to scrape the API with 100,000 runs: the first scrape, which reads all, one that reads nothing, each part. */
export async function benchMetrics(platform: BenchPlatform): Promise<Figures> {
  await platform.register('scraped', 1, CASES, 'sleep 60');
  const request = { dataset: 'scraped', harness: 'scraped', runtime: 'scraped', trials: TRIALS };
  const { id } = await platform.call<{ id: string }>('POST', '/scorecards', request);
  await sleep(APART_MS);
  const first = await timed(() => scrape(platform));
  const later: number[] = [];
  for (let round = 0; round < SCRAPES; round += 1) later.push((await timed(() => scrape(platform))).ms);
  await platform.call('POST', `/scorecards/${id}/cancel`);
  await platform.until(id, ({ status }) => status === 'cancelled');
  const duration = (source: string): number => {
    const found = new RegExp(`^everdict_scrape_duration_seconds{source="${source}"} (.*)$`, 'm').exec(first.value);
    return Math.round(Number(found?.[1]) * 10_000) / 10;
  };
  const figures = {
    runs: CASES * TRIALS,
    bytes: first.value.length,
    scrapeMs: first.ms,
    repeatedScrapeMs: later.sort((one, other) => one - other)[SCRAPES / 2] ?? 0,
    runsMs: duration('runs'),
    admissionMs: duration('admission'),
    outboxMs: duration('outbox'),
    invariantsMs: duration('invariants'),
    ledgersMs: duration('ledgers'),
  };
  return { 'a scrape of the API': { figures } };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const begun = performance.now();
  const value = await work();
  return { value, ms: Math.round((performance.now() - begun) * 10) / 10 };
}

async function scrape({ stack }: BenchPlatform): Promise<string> {
  const response = await fetch(`${stack.apiUrl}/metrics`);
  if (!response.ok) throw new Error(`GET /metrics: ${response.status}`);
  return response.text();
}
