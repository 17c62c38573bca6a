import { E2ePlatform, MINUTE } from '../platform.js';
import { JobNotes } from './job-notes.js';
import { Sampler } from './sampler.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

test(
  'counts by state add up to what was submitted at every sample of a run, and 60 cases on 4 slots are never more than 4',
  async () => {
    const notes = JobNotes.in(platform.dir, 'totals');
    const cases = Array.from({ length: 60 }, (_, i) => ({
      id: `case-${i}`,
      task: `0.${2 + (i % 4)} ${i % 5 === 4 ? 3 : 0} 0`,
    }));
    const request = await platform.register({ harness: notes.harness, cases });
    const id = await platform.submit(request);
    const sampler = new Sampler(platform, id);
    try {
      await platform.completed(id);
    } finally {
      await sampler.stop();
    }
    const { counts } = await platform.scorecard(id);

    sampler.expectConserved(60);
    // Each state that lasts was seen.
    for (const state of ['queued', 'waiting', 'running', 'settled'] as const)
      expect(Math.max(...sampler.counts.map((sample) => sample[state]))).toBeGreaterThan(0);
    expect(counts).toEqual({
      ...{ submitted: 60, queued: 0, waiting: 0, running: 0, settled: 60 },
      ...{ passed: 48, failed: 12, errored: 0, cancelled: 0, infraErrors: 0, decided: 0 },
    });
    expect(notes.most.jobs).toBeLessThanOrEqual(4);
    expect(notes.most.jobs).toBeGreaterThan(1);
    expect([...notes.starts.values()]).toEqual(Array(60).fill(1));
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'the declared memory of what runs never exceeds the budget',
  async () => {
    const notes = JobNotes.in(platform.dir, 'memory');
    const sizes = [900, 500, 50, 50, 300, 0, 700, 0, 250, 1_000];
    const cases = Array.from({ length: 24 }, (_, i) => sizes[i % sizes.length] ?? 0).map((memoryMb, i) => ({
      id: `case-${i}`,
      task: `0.2 0 ${memoryMb}`,
      ...(memoryMb > 0 && { resources: { memoryMb } }),
    }));
    const runtime = { maxConcurrent: 4, memoryBudgetMb: 1_000 };
    const request = await platform.register({ runtime, harness: notes.harness, cases });
    const id = await platform.submit(request);
    expect((await platform.completed(id)).counts).toMatchObject({ submitted: 24, passed: 24 });
    expect(notes.most.memoryMb).toBeLessThanOrEqual(1_000);
    expect(notes.most.memoryMb).toBeGreaterThanOrEqual(900);
    expect(notes.most.jobs).toBeLessThanOrEqual(4);
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'T13 what fits passes a heavy case at the head of the queue, that one is not starved, and what can never fit is refused',
  async () => {
    const notes = JobNotes.in(platform.dir, 'heavy');
    const sizes = { running: 900, heavy: 500, light1: 50, light2: 50, light3: 50, undeclared: 0 };
    const cases = Object.entries(sizes).map(([id, memoryMb]) => ({
      id,
      task: `${id === 'running' ? 4 : 0.5} 0 ${memoryMb}`,
      ...(memoryMb > 0 && { resources: { memoryMb } }),
    }));
    const request = await platform.register({
      runtime: { maxConcurrent: 4, memoryBudgetMb: 1_000 },
      harness: notes.harness,
      cases,
    });
    const id = await platform.submit(request);
    expect((await platform.completed(id)).counts).toMatchObject({ submitted: 6, passed: 6 });
    const order = Object.keys(sizes);
    const startsOf = notes.lines
      .filter(({ what }) => what === 'start')
      .map(({ runId }) => order[Number(runId.split('.')[1])]);
    expect(startsOf).toHaveLength(6);
    expect(startsOf.at(-1)).toBe('heavy');
    expect(notes.most.memoryMb).toBeLessThanOrEqual(1_000);

    const tooMuch = { case: { id: 'huge', task: '0', resources: { memoryMb: 1_001 } }, ...request, dataset: undefined };
    const refused = await platform.call<{ code: string; detail: string }>('POST', '/runs', tooMuch);
    expect(refused).toMatchObject({ status: 400, body: { code: 'DEMAND_EXCEEDS_ENVELOPE' } });
    expect(refused.body.detail).toMatch(/1001.*1000/);
  },
  MINUTE,
);
