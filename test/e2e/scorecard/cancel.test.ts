import { setTimeout as sleep } from 'node:timers/promises';
import type { ScorecardView } from '../../../contracts/scorecard.js';
import { eventually } from '../../eventually.js';
import { E2ePlatform, MINUTE } from '../platform.js';
import { JobNotes } from './job-notes.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

/** Ignores TERM, and so does what it leaves in a session of its own. */
const STUBBORN = 'trap "" TERM; setsid sleep 600 & sleep 600 & sleep 600';

const cancel = (id: string): Promise<ScorecardView> => platform.ok('POST', `/scorecards/${id}/cancel`);
/** Looks as often as it can, so that what is checked next is the very moment. */
const cancelled = (id: string) => platform.until(id, 'is cancelled', ({ status }) => status === 'cancelled');

test(
  'once it reads cancelled no process of it is left, what was finished keeps its result, and a second cancel changes nothing',
  async () => {
    const tasks = ['echo quick', 'exit 3', ...Array(10).fill(STUBBORN)];
    const cases = tasks.map((task, i) => ({ id: `case-${i}`, task }));
    const request = await platform.register({ harness: { command: '. "$EVERDICT_TASK_FILE"' }, cases });
    const id = await platform.submit(request);
    await platform.until(id, 'runs', ({ counts }) => counts.settled === 2 && counts.running === 4);
    // The jobs themselves run as well, not only in the books.
    await eventually(
      'jobs run',
      async () => platform.processesOf(id).filter((line) => /sleep 600/.test(line)).length >= 12,
    );

    await cancel(id);
    const begun = performance.now();
    await cancel(id);
    const { counts } = await cancelled(id);
    expect(platform.processesOf(id)).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(counts).toMatchObject({ submitted: 12, settled: 12, passed: 1, failed: 1, cancelled: 10, errored: 0 });
    const outcomes = (await platform.runs(id)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['passed', 'failed', ...Array(10).fill('cancelled')]);

    expect(await cancel(id)).toMatchObject({ status: 'cancelled', counts });
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'a scorecard that only waits is cancelled without a start, and the one that holds the slots is not touched',
  async () => {
    const notes = JobNotes.in(platform.dir, 'waiting');
    const cases = [0, 1].map((i) => ({ id: `case-${i}`, task: '3 0 0' }));
    const request = await platform.register({ runtime: { maxConcurrent: 1 }, harness: notes.harness, cases });
    const first = await platform.submit({ ...request, cases: { limit: 1 } });
    await eventually('the slot is taken', async () => notes.count('start') === 1);
    const second = await platform.submit(request);
    await platform.until(second, 'waits', ({ counts }) => counts.waiting === 2);
    expect((await cancel(second)).counts).toMatchObject({ submitted: 2, cancelled: 2 });
    expect((await cancelled(second)).counts).toMatchObject({ settled: 2, cancelled: 2 });
    expect((await platform.completed(first)).counts).toMatchObject({ passed: 1 });
    expect(notes.count('start')).toBe(1);
    await platform.expectNothingLeft(second, request.runtime);
  },
  MINUTE,
);

test(
  'at any moment among short jobs every case is either finished with its result or cancelled, and nothing is left',
  async () => {
    const notes = JobNotes.in(platform.dir, 'moments');
    const cases = Array.from({ length: 16 }, (_, i) => ({ id: `case-${i}`, task: `0.${i % 3} 0 0` }));
    const request = await platform.register({ harness: notes.harness, cases });
    for (const delayMs of [0, 100, 250, 400, 500, 600, 650, 750, 900, 1_200]) {
      const id = await platform.submit(request);
      await sleep(delayMs);
      await cancel(id);
      const { counts } = await platform.until(id, 'ends', ({ status }) => /^c.*ed$/.test(status));
      expect(platform.processesOf(id)).toEqual([]);
      expect(counts).toMatchObject({ submitted: 16, settled: 16, failed: 0, errored: 0 });
      expect(counts.passed + counts.cancelled).toBe(16);
      const { ended } = notes;
      const runs = await platform.runs(id);
      expect(runs.filter((run) => run.outcome === 'passed' && !ended.has(run.id))).toEqual([]);
      expect(runs.filter((run) => (notes.starts.get(run.id) ?? 0) > 1)).toEqual([]);
      await platform.expectNothingLeft(id, request.runtime);
    }
  },
  MINUTE,
);

test(
  'a single run is cancelled while it waits and while it runs, and its slot goes to the next',
  async () => {
    const request = await platform.register({
      runtime: { maxConcurrent: 1 },
      harness: { command: '. "$EVERDICT_TASK_FILE"' },
      cases: [{ id: 'none', task: '' }],
    });
    const start = async (task: string): Promise<string> => {
      const body = { case: { id: 'one', task }, harness: request.harness, runtime: request.runtime };
      return (await platform.ok<{ id: string }>('POST', '/runs', body)).id;
    };
    const stop = (id: string) => platform.ok('POST', `/runs/${id}/cancel`);
    const running = await start(STUBBORN);
    await eventually('it runs', async () => platform.processesOf(running).some((line) => /sleep 600/.test(line)));
    const waiting = await start('echo never');
    const next = await start('echo next');
    await eventually('they wait', async () =>
      (await Promise.all([waiting, next].map((id) => platform.run(id)))).every(({ state }) => state === 'waiting'),
    );

    expect(await stop(waiting)).toMatchObject({ state: 'settled', outcome: 'cancelled', attempts: 0 });
    await stop(running);
    expect(await platform.settled(running)).toMatchObject({ outcome: 'cancelled', attempts: 1 });
    expect(await platform.settled(next)).toMatchObject({ outcome: 'passed' });
    expect(platform.processesOf(running)).toEqual([]);
    expect(await stop(running)).toMatchObject({ outcome: 'cancelled' });
    await platform.expectNothingLeft(running, request.runtime);
  },
  MINUTE,
);
