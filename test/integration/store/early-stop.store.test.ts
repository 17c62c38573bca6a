import { EarlyStopStore } from '../../../store/early-stop.store.js';
import { anEarlyStop, aRecord } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
let earlyStops: EarlyStopStore;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  earlyStops = new EarlyStopStore(db.dataSource);
});
afterAll(() => db.drop());

const VERDICT = { verdict: 'block', errorRate: 0.05, seen: 1, total: 5, reason: 'it is certain' } as const;

const view = (id: string) => world.scorecards.find('default', id);
const settle = (run: string, outcome: 'passed' | 'failed') => world.runs.settleUnplaced(run, { outcome });
const caseOrder = async (id: string): Promise<string[]> =>
  (await world.runs.pageByScorecard(id, { limit: 1_000 })).map(({ run }) => run.caseId);

test('the cases of a scorecard that may end early come in an order of its own, with their trials together', async () => {
  const [one, other] = [
    await world.submit(50, { earlyStop: anEarlyStop(), trials: 2 }),
    await world.submit(50, { earlyStop: anEarlyStop(), trials: 2 }),
  ];
  const plain = await caseOrder(await world.submit(50, { trials: 2 }));
  const [first, second] = [await caseOrder(one), await caseOrder(other)];
  expect(first.toSorted()).toEqual(plain.toSorted());
  expect(first).not.toEqual(plain);
  expect(second).not.toEqual(first);
  expect(first.filter((caseId, i) => i % 2 === 1 && caseId !== first[i - 1])).toEqual([]);
});

test('a stop cancels what has no outcome but what has its record, and is no cancel of the scorecard', async () => {
  const id = await world.submit(5, { earlyStop: anEarlyStop() });
  await settle(`${id}.0`, 'failed');
  await world.attempts.open(world.opening(`${id}.1`));
  await world.attempts.open(world.opening(`${id}.2`));
  await world.attempts.recordEnd(`${id}.2`, 1, { kind: 'record' }, aRecord());

  expect(await earlyStops.stop(id, VERDICT)).toBe(true);
  // As a worker that was killed before it could say so calls it again.
  expect(await earlyStops.find(id)).toMatchObject({ isStopped: true });
  expect(await earlyStops.cancelRest(id)).toBe(true);

  expect(await view(id)).toMatchObject({
    status: 'running',
    counts: { settled: 4, failed: 1, cancelled: 3, running: 1 },
    stoppedEarly: { ...VERDICT, at: expect.any(String) },
  });
  expect(await world.runs.find('default', `${id}.1`)).toMatchObject({
    outcome: 'cancelled',
    reason: 'the scorecard ended early: its verdict was certain',
  });
  expect(await world.scorecards.requestCancel(id)).toBe('requested');
  await world.attempts.settle(`${id}.2`, 1, { outcome: 'passed' });
  for (const run of ['1', '2']) await world.attempts.close(`${id}.${run}`, 1);
  expect(await world.scorecards.complete(id)).toBe(true);
  expect(await view(id)).toMatchObject({ status: 'completed', counts: { settled: 5, passed: 1 } });
});

test.each([
  ['is being cancelled', async (id: string) => world.scorecards.requestCancel(id)],
  [
    'has nothing left to end',
    async (id: string) => {
      await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });
      for (const run of [1, 2]) await settle(`${id}.${run}`, 'passed');
    },
  ],
])('what %s does not end early', async (_title, happens) => {
  const id = await world.submit(3, { earlyStop: anEarlyStop() });
  await world.attempts.open(world.opening(`${id}.0`));
  await happens(id);
  expect(await earlyStops.stop(id, VERDICT)).toBe(false);
  expect(await view(id)).toMatchObject({ stoppedEarly: null });
});

test('cases are read in their order, with what they were in the baseline', async () => {
  const baseline = await world.submit(4, { trials: 2 });
  const was = await caseOrder(baseline);
  for (const [i, caseId] of was.entries()) {
    await settle(`${baseline}.${i}`, caseId === 'case-1' && i % 2 === 0 ? 'failed' : 'passed');
  }
  const id = await world.submit(4, { trials: 2, earlyStop: anEarlyStop({ minPassRate: 1 }, { baseline }) });
  const order = await caseOrder(id);
  await settle(`${id}.0`, 'passed');
  await settle(`${id}.1`, 'passed');
  await settle(`${id}.2`, 'failed');

  const found = await earlyStops.cases(id, anEarlyStop({ minPassRate: 1 }, { baseline }));
  const ids = order.filter((_, i) => i % 2 === 0);
  expect(found?.map(({ caseId }) => caseId)).toEqual(ids);
  expect(found?.map(({ known }) => known)).toEqual(['passed', 'failed', undefined, undefined]);
  expect(found?.map(({ before }) => before)).toEqual(ids.map((each) => (each === 'case-1' ? 'failed' : 'passed')));

  await db.dataSource.query('UPDATE runs SET case_id = $2 WHERE id = $1', [`${baseline}.0`, 'gone']);
  await db.dataSource.query('UPDATE runs SET case_id = $2 WHERE id = $1', [`${baseline}.1`, 'gone']);
  expect(await earlyStops.cases(id, anEarlyStop({ minPassRate: 1 }, { baseline }))).toBeUndefined();
});
