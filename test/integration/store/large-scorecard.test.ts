import type { DataSource } from 'typeorm';
import { aDataset } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, POOL, type World } from './world.js';

/** Of each scorecard. One of many, as a part of the table is read by an index only if it is a small one. */
const SIZE = 2_000;
const SCORECARDS = 20;

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  // One connection, so that it alone says how tables were read.
  db = await createTestDatabase({ poolSize: 1 });
  world = await aWorld(db.dataSource);
}, 60_000);
afterAll(() => db.drop());

/** Makes a small dataset a large one, faster than by registering it. */
async function aLargeDataset(dataSource: DataSource): Promise<number> {
  const pk = await world.register(aDataset({ id: 'large', size: 1 }));
  await dataSource.query(
    `INSERT INTO dataset_cases (dataset_pk, ordinal, case_id, content, bytes)
     SELECT dataset_pk, n, 'case-' || n, jsonb_set(content, '{id}', to_jsonb('case-' || n)), bytes
     FROM dataset_cases, generate_series(1, $2::int - 1) AS n WHERE dataset_pk = $1`,
    [pk, SIZE],
  );
  return pk;
}

async function scans(): Promise<number> {
  await db.dataSource.query('SELECT pg_stat_force_next_flush()');
  await db.dataSource.query('SELECT pg_stat_clear_snapshot()');
  const sql = `SELECT seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'runs'`;
  return (await db.dataSource.query(sql))[0].scans;
}

test('a large scorecard is planned, shown, paged and completed without a scan of all runs, and cancelled', async () => {
  const pk = await aLargeDataset(db.dataSource);
  const ids: string[] = [];
  for (let i = 0; i < SCORECARDS; i += 1) ids.push((await world.scorecards.create(world.newScorecard(pk))).id);
  const [id = '', other = '', done = ''] = ids;
  const settle = `UPDATE runs SET outcome = 'passed', settled_at = now(), settled_attempt = 1 WHERE scorecard_id = $1`;
  await db.dataSource.query(settle, [done]);
  await db.dataSource.query(`${settle} AND ordinal < $2`, [id, SIZE / 2]);
  const asked = [0, 1].map((i) => ({ runId: `${id}.${SIZE / 2 + i}`, askedAt: Date.now() }));
  await world.runs.markAsked(asked, `window:${id}:0`);
  await world.attempts.open(world.opening(`${id}.${SIZE / 2}`));
  await db.dataSource.query('ANALYZE');
  const before = await scans();

  expect(await world.scorecards.plan(id)).toMatchObject({ total: SIZE, slots: 4 });
  expect(await world.scorecards.partition(id, SIZE / 2, SIZE / 2 + 500)).toHaveLength(500);
  const counts = { submitted: SIZE, settled: SIZE / 2, running: 1, waiting: 1, queued: SIZE / 2 - 2, passed: SIZE / 2 };
  expect(await world.scorecards.counts(id)).toMatchObject(counts);
  expect(await world.scorecards.counts(other)).toMatchObject({ queued: SIZE, settled: 0 });
  const ordinals = async (filter: object) =>
    (await world.runs.pageByScorecard(id, { ...filter, limit: 2 })).map(({ ordinal }) => ordinal);
  expect(await ordinals({})).toEqual([0, 1]);
  expect(await ordinals({ after: SIZE - 3 })).toEqual([SIZE - 2, SIZE - 1]);
  expect(await ordinals({ outcome: 'failed' })).toEqual([]);
  expect(await ordinals({ outcome: 'passed', after: 5 })).toEqual([6, 7]);
  expect(await ordinals({ errorClass: 'infra' })).toEqual([]);
  expect(await ordinals({ state: 'running' })).toEqual([SIZE / 2]);
  expect(await ordinals({ state: 'waiting' })).toEqual([SIZE / 2 + 1]);
  expect(await ordinals({ state: 'queued' })).toEqual([SIZE / 2 + 2, SIZE / 2 + 3]);

  expect(await world.pools.active()).toEqual([POOL]);
  expect(await world.scorecards.complete(id)).toBe(false);
  expect(await world.scorecards.complete(done)).toBe(true);
  expect(await scans()).toBe(before);

  // A thousand keys are a large part of so small a table.
  expect(await world.scorecards.requestCancel(id)).toBe('requested');
  expect(await world.scorecards.counts(id)).toMatchObject({ cancelled: SIZE / 2 - 1, running: 1, queued: 0 });
  expect(await world.runs.guards(`${id}.${SIZE / 2}`)).toMatchObject({ openAttempt: 1, isCancelRequested: true });
  expect(await world.scorecards.requestCancel(done)).toBe('finished');
}, 60_000);

test('what a scorecard came to is counted once, when it completes', async () => {
  const id = await world.submit(2);
  for (const ordinal of [0, 1]) await world.runs.settleUnplaced(`${id}.${ordinal}`, { outcome: 'cancelled' });
  expect(await world.scorecards.complete(id)).toBe(true);
  const counted = await world.scorecards.find('default', id);
  expect(counted?.counts).toMatchObject({ submitted: 2, queued: 0, settled: 2, cancelled: 2 });
  // Nobody takes a run away; here it shows that runs are not read again.
  await db.dataSource.query('DELETE FROM runs WHERE scorecard_id = $1', [id]);
  expect(await world.scorecards.find('default', id)).toEqual(counted);
  expect(await world.scorecards.list('default', { limit: 1 })).toEqual([counted]);
});

describe('a cancel', () => {
  test('lets others settle between its steps, and goes on where it was broken off', async () => {
    const id = await world.submit(2_500);
    const half = `UPDATE runs SET outcome = 'cancelled', settled_at = now(), cancel_requested_at = now() WHERE scorecard_id = $1 AND ordinal < 1000`;
    await db.dataSource.query(half, [id]);
    await db.dataSource.query('UPDATE scorecards SET cancel_requested_at = now() WHERE id = $1', [id]);
    expect((await world.scorecards.find('default', id))?.status).toBe('cancelling');
    // One connection: what settles can only do so between the transactions of the cancel.
    const cancel = world.scorecards.requestCancel(id);
    const settled = world.runs.settleUnplaced(`${id}.2499`, { outcome: 'passed' });
    expect([await cancel, await settled]).toEqual(['requested', true]);
    expect(await world.scorecards.counts(id)).toMatchObject({ settled: 2_500, passed: 1, cancelled: 2_499 });
  });
});
