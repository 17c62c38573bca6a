import { newId } from '../../../store/ids.js';
import { aDataset } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

describe('counts', () => {
  test('name every run once, in each state', async () => {
    const id = await world.submit(8);
    const run = (ordinal: number) => `${id}.${ordinal}`;
    await world.runs.markAsked(asked([1, 2, 3, 4, 5, 6].map(run)), `window:${id}:0`);
    for (const ordinal of [2, 3, 4, 5]) await world.attempts.open(world.opening(run(ordinal)));
    await world.attempts.settle(run(3), 1, { outcome: 'passed', scores: [] });
    await world.attempts.settle(run(4), 1, { outcome: 'failed', reason: 'no', scores: [] });
    const lost = { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST', reason: 'gone' } as const;
    await world.attempts.settle(run(5), 1, lost);
    await world.runs.settleUnplaced(run(6), { outcome: 'cancelled' });

    expect(await world.scorecards.counts(id)).toEqual({
      submitted: 8,
      queued: 2,
      waiting: 1,
      running: 1,
      settled: 4,
      passed: 1,
      failed: 1,
      errored: 1,
      cancelled: 1,
      infraErrors: 1,
      decided: 0,
    });
    expect(await world.scorecards.rates(id)).toMatchObject({
      firstAttempt: { n: 3, passed: 1 },
      final: { n: 3, passed: 1 },
      infraExcluded: { n: 2, passed: 1 },
    });
  });

  test('tell a pass at the first attempt from a later one', async () => {
    const id = await world.submit(2);
    for (const [ordinal, tries] of [1, 2].entries()) {
      for (let attempt = 1; attempt <= tries; attempt++) {
        await world.attempts.open(world.opening(`${id}.${ordinal}`, { attempt }));
        if (attempt < tries) await world.attempts.closeForRetry(`${id}.${ordinal}`, attempt);
      }
      await world.attempts.settle(`${id}.${ordinal}`, tries, { outcome: 'passed' });
    }

    const rates = await world.scorecards.rates(id);
    expect([rates?.firstAttempt.passed, rates?.final.passed]).toEqual([1, 2]);
  });

  test('add up at every instant while runs move', async () => {
    const id = await world.submit(40);
    let isDone = false;
    const life = async (ordinal: number) => {
      const run = `${id}.${ordinal}`;
      await world.runs.markAsked(asked([run]), 'window');
      await world.attempts.open(world.opening(run));
      if (ordinal % 3 === 0) {
        await world.attempts.closeForRetry(run, 1);
        await world.attempts.open(world.opening(run, { attempt: 2 }));
      }
      await world.attempts.settle(run, ordinal % 3 === 0 ? 2 : 1, { outcome: 'passed' });
    };
    const sample = async () => {
      const sums: number[] = [];
      while (!isDone) {
        const counts = await world.scorecards.counts(id);
        if (counts) sums.push(counts.queued + counts.waiting + counts.running + counts.settled);
      }
      return sums;
    };
    const sampling = sample();
    await Promise.all(Array.from({ length: 40 }, (_, ordinal) => life(ordinal)));
    isDone = true;

    expect(new Set(await sampling)).toEqual(new Set([40]));
  });
});

describe('a scorecard', () => {
  test('is queued, running, then completed once nothing of it is left', async () => {
    const id = await world.submit(1);
    const status = async () => (await world.scorecards.find('default', id))?.status;
    expect(await status()).toBe('queued');
    await world.attempts.open(world.opening(`${id}.0`));
    expect(await status()).toBe('running');
    expect(await world.scorecards.complete(id)).toBe(false);
    await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });
    expect(await world.scorecards.complete(id)).toBe(false);
    await world.attempts.close(`${id}.0`, 1);

    expect(await world.scorecards.complete(id)).toBe(true);
    expect(await world.scorecards.complete(id)).toBe(true);
    expect(await status()).toBe('completed');
  });

  test('is cancelled at once where nothing runs, and keeps what is finished', async () => {
    const id = await world.submit(3);
    for (const ordinal of [0, 1]) await world.attempts.open(world.opening(`${id}.${ordinal}`));
    await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });

    expect(await world.scorecards.requestCancel(id)).toBe('requested');
    expect(await world.scorecards.counts(id)).toMatchObject({ passed: 1, running: 1, cancelled: 1 });
    expect((await world.scorecards.find('default', id))?.status).toBe('cancelling');
    expect(await world.attempts.settle(`${id}.1`, 1, { outcome: 'cancelled' })).toBe(true);
    for (const ordinal of [0, 1]) await world.attempts.close(`${id}.${ordinal}`, 1);
    expect(await world.scorecards.complete(id)).toBe(true);
    expect((await world.scorecards.find('default', id))?.status).toBe('cancelled');
  });

  test('whose runs are all settled is not cancelled any more', async () => {
    const id = await world.submit(1);
    await world.runs.settleUnplaced(`${id}.0`, { outcome: 'cancelled' });

    expect(await world.scorecards.requestCancel(id)).toBe('finished');
    expect(await world.scorecards.requestCancel(newId('sc'))).toBeUndefined();
  });

  test('is in the outbox until its root is started', async () => {
    const id = await world.submit(1);
    const ids = async () => (await world.scorecards.unstarted(1_000)).map((found) => found.id);
    expect(await ids()).toContain(id);
    await world.scorecards.markStarted(id);

    expect(await ids()).not.toContain(id);
  });

  test('gives a window the runs without outcome, with the attempt to go on with', async () => {
    const id = await world.submit(5);
    const seqs: number[] = [];
    for (const ordinal of [0, 1, 2]) {
      const opening = world.opening(`${id}.${ordinal}`);
      seqs.push(opening.seq);
      await world.attempts.open(opening);
    }
    await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });
    await world.attempts.closeForRetry(`${id}.2`, 1);

    const runs = await world.scorecards.partition(id, 0, 4);
    expect(runs.map(({ runId, attempt, openSeq }) => [runId, attempt, openSeq])).toEqual([
      [`${id}.1`, 1, seqs[1]],
      [`${id}.2`, 2, undefined],
      [`${id}.3`, 1, undefined],
    ]);
  });

  test('is listed newest first, a page at a time', async () => {
    await db.dataSource.query(`INSERT INTO workspaces (id) VALUES ('pages')`);
    const pk = await world.register(aDataset({ id: 'listed' }));
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      const scorecard = world.newScorecard(pk, { id: newId('sc', 1_000 + i), workspaceId: 'pages' });
      made.unshift((await world.scorecards.create(scorecard)).id);
    }
    const first = await world.scorecards.list('pages', { limit: 3 });
    const rest = await world.scorecards.list('pages', { after: first.at(-1)?.id, limit: 3 });

    expect([...first, ...rest].map(({ id }) => id)).toEqual(made);
    expect(await world.scorecards.find('default', made[0] ?? '')).toBeUndefined();
  });
});
