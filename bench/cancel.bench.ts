import { type Figures, spread } from './figures.js';
import type { BenchPlatform } from './platform.js';

const ROUNDS = 5;
const SLOTS = 8;

/** From the cancel request to `cancelled`, which says that no process is left: 40 cases on 8 slots that ignore TERM. */
export async function benchCancel(platform: BenchPlatform): Promise<Figures> {
  await platform.register('cancel', SLOTS, 40, 'trap "" TERM; sleep 600 & sleep 600');
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await platform.submit('cancel');
    await platform.until(id, ({ counts }) => counts.running === SLOTS);
    const began = performance.now();
    await platform.call('POST', `/scorecards/${id}/cancel`);
    await platform.until(id, ({ status }) => status === 'cancelled');
    times.push(performance.now() - began);
  }
  return { cancel: { 'cancel asked → nothing left': spread(times) } };
}
