import { SweepStore } from '../../../store/sweep.store.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
let sweep: SweepStore;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  sweep = new SweepStore(db.dataSource);
});
afterAll(() => db.drop());

test('attempts that keep a slot come in pages, with whom their grant was told', async () => {
  const id = await world.submit(3);
  for (const ordinal of [0, 1, 2]) await world.attempts.open(world.opening(`${id}.${ordinal}`));
  await world.attempts.close(`${id}.1`, 1);
  const page = await sweep.liveAttempts('', 1);
  expect(page).toMatchObject([{ runId: `${id}.0`, poolId: POOL, kind: 'local', holder: `case:${id}.0` }]);
  expect(page[0]?.to).toBe(`case:${id}.0`);
  expect((await sweep.liveAttempts(`${id}.0`, 9)).map(({ runId }) => runId)).toEqual([`${id}.2`]);
  const known = [`everdict-${id}.0-1`, `everdict-${id}.1-1`];
  expect(await sweep.standings([...known, 'other'])).toEqual(
    new Map([
      [known[0], 'open'],
      [known[1], 'closed'],
    ]),
  );
});

test('runs of a lost scorecard are settled, but those with an open attempt or an outcome', async () => {
  const id = await world.submit(4);
  await world.attempts.open(world.opening(`${id}.0`));
  await world.runs.settleUnplaced(`${id}.1`, { outcome: 'passed' });
  expect(await sweep.settleOrphans(id, 'a reason')).toBe(2);
  expect(await sweep.settleOrphans(id, 'another')).toBe(0);
  expect(await world.scorecards.counts(id)).toMatchObject({ running: 1, passed: 1, errored: 2, infraErrors: 2 });
  const run = await world.runs.find('default', `${id}.3`);
  expect(run).toMatchObject({ errorClass: 'infra', errorCode: 'PLATFORM_TERMINATED', reason: 'a reason' });
});

test('only scorecards that were started and have not finished are looked at', async () => {
  const [unstarted, started, finished] = [await world.submit(1), await world.submit(1), await world.submit(1)];
  for (const id of [started, finished]) await world.scorecards.markStarted(id);
  await world.runs.settleUnplaced(`${finished}.0`, { outcome: 'passed' });
  await world.scorecards.complete(finished);
  const found = await sweep.unfinishedScorecards('', 100);
  expect(found).toContain(started);
  expect(found).not.toContain(unstarted);
  expect(found).not.toContain(finished);
  expect(await sweep.unfinishedScorecards(started, 100)).not.toContain(started);
});

test('idempotency keys go once they have expired', async () => {
  const insert = (key: string, age: string) =>
    db.dataSource.query(
      `INSERT INTO idempotency_keys (workspace_id, route, key, body_hash, resource_id, created_at)
       VALUES ('default', 'POST /runs', $1, '', '', now() - $2::interval)`,
      [key, age],
    );
  await insert('old', '25 hours');
  await insert('young', '23 hours');
  expect(await sweep.purgeKeys()).toBe(1);
  expect(await db.dataSource.query('SELECT key FROM idempotency_keys')).toEqual([{ key: 'young' }]);
});
