import type { Figures } from './figures.js';
import type { BenchPlatform } from './platform.js';

const CASES = 10_000;

/** A large dataset: upload, submit, and one look at the counts; the scorecard is cancelled at once. */
export async function benchSubmit(platform: BenchPlatform): Promise<Figures> {
  const beforeUpload = performance.now();
  await platform.register('large', 1, CASES, 'sleep 60');
  const uploaded = performance.now();
  const id = await platform.submit('large');
  const submitted = performance.now();
  await platform.scorecard(id);
  const looked = performance.now();
  await platform.call('POST', `/scorecards/${id}/cancel`);
  await platform.until(id, ({ status }) => status === 'cancelled');
  const figures = {
    cases: CASES,
    uploadMs: Math.round(uploaded - beforeUpload),
    submitMs: Math.round(submitted - uploaded),
    lookMs: Math.round(looked - submitted),
    cancelledMs: Math.round(performance.now() - looked),
  };
  return { submit: { 'one large scorecard': figures } };
}
