import { Depth } from '../../../store/depth.js';
import { newId } from '../../../store/ids.js';
import { aDataset } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
let datasetPk: number;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  datasetPk = await world.register(aDataset({ size: 1 }));
  await db.dataSource.query("INSERT INTO workspaces (id) VALUES ('other')");
}, 60_000);
afterAll(() => db.drop());
beforeEach(() => db.dataSource.query('TRUNCATE attempts, runs, scorecards CASCADE'));

const MANY = 1_000_000;
const capped = (workspace: number, deployment = MANY) => ({ depth: new Depth({ workspace, deployment }) });

const single = (parts: object = {}) =>
  world.runs.create({
    ...{ id: newId('run'), workspaceId: 'default', harnessPk: world.harnessPk, class: 'interactive', demand: {} },
    ...{ case: { datasetPk, ordinal: 0, id: 'case-0' }, site: { poolId: POOL, version: '1.0.0' } },
    ...{ infraRetries: 0, params: {}, metadata: {}, ...parts },
  });

const stored = async (): Promise<number> => (await db.dataSource.query('SELECT count(*)::int AS n FROM runs'))[0].n;

test('as many runs without outcome as the cap are taken, and one more is refused with what is there and asked', async () => {
  const id = await world.submit(5, capped(6));
  await single(capped(6));
  await expect(single(capped(6))).rejects.toMatchObject({
    code: 'QUEUE_FULL',
    message:
      'workspace default may have 6 runs without outcome; it has 6, and 1 more were asked for: try again in 60 s',
    details: { retryAfterSec: 60 },
  });
  await expect(world.submit(5, capped(6))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await expect(world.submit(7, capped(6))).rejects.toMatchObject({ message: expect.stringMatching(/: submit fewer$/) });
  expect(await stored()).toBe(6);

  // What has its outcome makes room, though its scorecard is not finished.
  for (const ordinal of [0, 1, 2]) await world.runs.settleUnplaced(`${id}.${ordinal}`, { outcome: 'cancelled' });
  await single(capped(6));
  await expect(world.submit(4, capped(6))).rejects.toMatchObject({
    message: expect.stringContaining('it has 4, and 4 more'),
    // Three settled within a minute, and two are in the way.
    details: { retryAfterSec: 40 },
  });
});

test('another workspace is refused only by the cap of all together', async () => {
  await world.submit(5, capped(5));
  await expect(single({ ...capped(5, 6), workspaceId: 'other' })).resolves.toMatchObject({ kind: 'created' });
  await expect(single({ ...capped(5, 6), workspaceId: 'other' })).rejects.toMatchObject({
    code: 'QUEUE_FULL',
    message: 'this deployment may have 6 runs without outcome; it has 6, and 1 more were asked for: try again in 60 s',
  });
});

test.each([
  ['of a workspace', capped(7)],
  ['of all together', capped(MANY, 7)],
])('of submits at once, no more pass than the cap %s lets pass', async (_title, caps) => {
  const submits = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? world.submit(2, caps) : single(caps)));
  const ends = await Promise.allSettled(submits);
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []));
  expect(new Set(refused)).toEqual(new Set(['QUEUE_FULL']));
  expect(await stored()).toBeLessThanOrEqual(7);
  // Two runs or one are left out only where there was no room for them.
  expect(await stored()).toBeGreaterThanOrEqual(6);
});
