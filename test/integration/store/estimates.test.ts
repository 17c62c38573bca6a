import { DurationStore } from '../../../store/duration.store.js';
import { newId } from '../../../store/ids.js';
import { PoolLoadStore } from '../../../store/pool-load.store.js';
import { aRuntime, MEMBER } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
let datasetPk: number;
beforeEach(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterEach(() => db.drop());

/** A scorecard whose runs held their slot for so many ms each, and ended. */
async function ended(held: readonly number[], parts = {}): Promise<string> {
  const id = await world.submit(held.length, parts);
  for (const [i, ms] of held.entries()) {
    const runId = `${id}.${i}`;
    await world.attempts.open(world.opening(runId));
    await world.attempts.close(runId, 1);
    await db.dataSource.query(
      `UPDATE attempts SET closed_at = opened_at + make_interval(secs => $2::float8 / 1000), end_kind = 'silent'
       WHERE run_id = $1`,
      [runId, ms],
    );
    await db.dataSource.query(
      `UPDATE runs SET outcome = 'failed', open_attempt = NULL, settled_at = now() WHERE id = $1`,
      [runId],
    );
  }
  [{ dataset_pk: datasetPk }] = await db.dataSource.query('SELECT dataset_pk FROM scorecards WHERE id = $1', [id]);
  return id;
}
const known = (key: { harnessPk?: number; datasetPk?: number; poolId?: string }) =>
  new DurationStore(db.dataSource).of({ poolId: POOL, harnessPk: world.harnessPk, ...key });

test('durations are those of harness and dataset, else of the harness, else of the runtime, else nobody knows', async () => {
  expect(await known({ datasetPk: 1 })).toBeUndefined();
  await ended([100, 200, 300, 400, 1_000, 5_000]);
  expect(await known({ datasetPk })).toEqual({
    ...{ source: 'harness and dataset', attempts: 6, sampleMs: [100, 200, 300, 400, 1_000, 5_000] },
    ...{ p50Ms: 350, p90Ms: 5_000 },
  });
  expect(await known({ datasetPk: 999 })).toMatchObject({ source: 'harness', attempts: 6 });
  expect(await known({})).toMatchObject({ source: 'harness' });
  expect(await known({ harnessPk: 999, datasetPk: 999 })).toMatchObject({ source: 'runtime', attempts: 6 });
  expect(await known({ harnessPk: 999, poolId: 'rt:default:other' })).toBeUndefined();
});

test('fewer than five say nothing, and what was cancelled says nothing', async () => {
  const id = await ended([1, 2, 3, 4, 5]);
  expect(await known({ datasetPk })).toMatchObject({ attempts: 5 });
  await db.dataSource.query(`UPDATE attempts SET end_kind = 'cancelled' WHERE run_id = $1`, [`${id}.0`]);
  expect(await known({ datasetPk })).toBeUndefined();
});

test('single runs count for their harness', async () => {
  const own = { id: 'one', task: 'x', timeoutSec: 60 };
  for (let i = 0; i < 5; i += 1) {
    const id = newId('run');
    await db.dataSource.query(
      `INSERT INTO runs (id, workspace_id, case_id, own_case, harness_pk, pool_id, runtime_version, class, infra_retries)
       VALUES ($1, 'default', 'one', $2, $3, $4, '1.0.0', 'interactive', 0)`,
      [id, JSON.stringify(own), world.harnessPk, POOL],
    );
    await world.attempts.open(world.opening(id));
    await world.attempts.close(id, 1);
  }
  expect(await known({ poolId: 'rt:default:other' })).toMatchObject({ source: 'harness', attempts: 5 });
});

test('what was read is kept for a while', async () => {
  const store = new DurationStore(db.dataSource);
  const key = { poolId: POOL, harnessPk: world.harnessPk };
  await ended(Array(6).fill(100));
  expect(await store.of(key)).toMatchObject({ p50Ms: 100 });
  await ended(Array(7).fill(9_000));
  expect(await store.of(key)).toMatchObject({ p50Ms: 100 });
  expect(await known({ datasetPk })).toMatchObject({ p50Ms: 9_000, attempts: 7 });
});

test('a request for a slot is told how long nine in ten of its kind held theirs', async () => {
  const id = await world.submit(2);
  const [first] = await world.runs.markAsked(asked([`${id}.0`]), 'window');
  const [{ dataset_pk }] = await db.dataSource.query('SELECT dataset_pk FROM scorecards WHERE id = $1', [id]);
  expect(first?.duration).toEqual({ poolId: POOL, harnessPk: world.harnessPk, datasetPk: dataset_pk });
});

test('the load of a pool is what runs, what waits in order, and what is queued, each with what its durations depend on', async () => {
  const id = await world.submit(9, { fallback: { memoryMb: 64 }, concurrency: 3 });
  await world.runs.markAsked(asked([`${id}.1`], 2_000), 'window');
  await world.runs.markAsked(asked([`${id}.2`], 1_000), 'window');
  await world.attempts.open(world.opening(`${id}.0`));
  const paused = await world.submit(4);
  await db.dataSource.query('UPDATE scorecards SET paused_at = now() WHERE id = $1', [paused]);

  const load = await new PoolLoadStore(db.dataSource).read(POOL, []);
  expect(load.leases).toMatchObject([{ holder: `case:${id}.0`, workspace: 'default', demand: { memoryMb: 64 } }]);
  expect(load.tickets).toMatchObject([
    { holder: `case:${id}.2`, askedAt: 1_000, class: 'batch' },
    { holder: `case:${id}.1`, askedAt: 2_000 },
  ]);
  const [group] = [...load.groups.keys()];
  expect(load.backlogs).toEqual([
    {
      ...{ scorecard: id, workspace: 'default', class: 'batch', count: 6, concurrency: 3, group },
      demands: Array(6).fill({ memoryMb: 64 }),
    },
  ]);
  expect(load.leases[0]?.group).toBe(group);
});

test('of a scorecard on several runtimes the share of a pool counts, and of a large one a part is looked at', async () => {
  await world.runtimes.insert('default', aRuntime({ id: 'there' }), { slots: 4 }, MEMBER);
  const id = await world.submit(2_000);
  await db.dataSource.query(
    `UPDATE runs SET pool_id = 'rt:default:there' WHERE scorecard_id = $1 AND ordinal % 2 = 0`,
    [id],
  );
  const [backlog] = (await new PoolLoadStore(db.dataSource).read(POOL, [])).backlogs;
  expect(backlog?.demands.length).toBeLessThanOrEqual(500);
  expect(backlog?.count).toBeGreaterThan(900);
  expect(backlog?.count).toBeLessThan(1_100);
});

test('open runs on other runtimes are counted for workspaces with a quota', async () => {
  const id = await world.submit(2);
  await world.attempts.open(world.opening(`${id}.0`));
  const read = (poolId: string) => new PoolLoadStore(db.dataSource).read(poolId, ['default']);
  expect([...(await read('rt:default:elsewhere')).openElsewhere]).toEqual([['default', 1]]);
  expect([...(await read(POOL)).openElsewhere]).toEqual([]);
});
