import type { BenchPlatform } from './platform.js';

const CASES = 300;

/** No-op cases through the whole platform, and how soon a lone case runs and is done. */
export async function benchDispatch(platform: BenchPlatform): Promise<Record<string, number>> {
  await platform.register('warm-up', 8, 20, 'true');
  const warmUp = await platform.submit('warm-up');
  await platform.until(warmUp, ({ status }) => status === 'completed');

  await platform.register('no-op', 8, CASES, 'true');
  const began = performance.now();
  const id = await platform.submit('no-op');
  await platform.until(id, ({ status }) => status === 'completed');
  const wallMs = performance.now() - began;

  await platform.register('lone', 8, 1, 'sleep 1');
  const submitted = performance.now();
  const lone = await platform.submit('lone');
  await platform.until(lone, ({ counts }) => counts.running === 1);
  const firstRunningMs = performance.now() - submitted;
  return {
    cases: CASES,
    casesPerSec: Math.round((CASES / wallMs) * 10_000) / 10,
    submitToFirstRunningMs: Math.round(firstRunningMs),
  };
}
