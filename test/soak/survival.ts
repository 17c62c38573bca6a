import { setTimeout as sleep } from 'node:timers/promises';
import type { RunView } from '../../contracts/run.js';
import type { E2ePlatform } from '../e2e/platform.js';
import { JobNotes } from '../e2e/scorecard/job-notes.js';
import { Sampler } from '../e2e/scorecard/sampler.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';

const CASES = 24;
const SLOTS = 4;
const FAILING_EXIT = 3;

/**
 * Runs a scorecard of jobs of 0.3 to 3 s, strikes once for each moment while jobs run, and has everything checked from
 * outside: over HTTP, in the tables, in the process table, and in what the jobs noted.
 */
export async function expectSurvival(
  platform: E2ePlatform,
  name: string,
  strikes: ((runtime: string) => Promise<void>)[],
): Promise<void> {
  const random = randomFor(name);
  const notes = JobNotes.in(platform.dir, name);
  const isFailing = (index: number): boolean => index % 4 === 3;
  const cases = Array.from({ length: CASES }, (_, i) => ({
    id: `${name}/${i}`,
    task: `${random(3, 30) / 10} ${isFailing(i) ? FAILING_EXIT : 0} 0`,
  }));
  const request = await platform.register({
    runtime: { maxConcurrent: SLOTS },
    harness: notes.harness,
    cases,
  });
  const moments = strikes.map((_, i) => ({ job: random(3 + i * 9, 11 + i * 9), delayMs: random(0, 500) }));
  process.stderr.write(
    `${name}: EVERDICT_TEST_SEED=${SEED}, at job ${moments.map(({ job, delayMs }) => `${job} + ${delayMs} ms`).join(' and ')}\n`,
  );

  const id = await platform.submit(request);
  const sampler = new Sampler(platform, id);
  try {
    for (const [i, { job, delayMs }] of moments.entries()) {
      await eventually(`job ${job} starts`, async () => notes.count('start') >= job);
      await sleep(delayMs);
      await eventually('a job runs', async () => notes.running.length > 0);
      await strikes[i]?.(request.runtime);
    }
    await platform.completed(id);
  } finally {
    await sampler.stop();
  }

  const { counts } = await platform.scorecard(id);
  sampler.expectConserved(CASES);
  const failing = cases.filter((_, i) => isFailing(i)).length;
  expect(counts).toEqual({
    ...{ submitted: CASES, queued: 0, waiting: 0, running: 0, settled: CASES },
    ...{ passed: CASES - failing, failed: failing, errored: 0, cancelled: 0, infraErrors: 0, decided: 0 },
  });
  const runs = await platform.runs(id);
  const wanted = cases.map(({ id: caseId }, i) => ({ caseId, outcome: isFailing(i) ? 'failed' : 'passed' }));
  expect(runs.map(({ caseId, outcome }) => ({ caseId, outcome }))).toEqual(wanted);
  expectStartedOnce(runs, notes);
  await platform.expectNothingLeft(id, request.runtime);
}

/** By the jobs' own notes each ran once, to its end, and never more at a time than there are slots. */
function expectStartedOnce(runs: RunView[], notes: JobNotes): void {
  expect(Object.fromEntries(notes.starts)).toEqual(Object.fromEntries(runs.map(({ id }) => [id, 1])));
  expect(notes.running).toEqual([]);
  expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
  expect(notes.most.jobs).toBeLessThanOrEqual(SLOTS);
}
