import { aCase, aDataset, MEMBER } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

const runsOf = (id: string) =>
  db.dataSource.query(
    `SELECT id, ordinal, case_id, trial, pool_id, runtime_version, memory_mb, cpu_millicores
     FROM runs WHERE scorecard_id = $1 ORDER BY ordinal`,
    [id],
  );
const countOf = async (sql: string, params: unknown[] = []) => (await db.dataSource.query(sql, params))[0].count;

describe('creating a scorecard', () => {
  test('makes one run per case and trial, numbered without gaps', async () => {
    const id = await world.submit(3, { trials: 2, filter: { ids: ['case-0', 'case-2'] } });

    expect((await runsOf(id)).map((run: Record<string, unknown>) => [run.id, run.case_id, run.trial])).toEqual([
      [`${id}.0`, 'case-0', 1],
      [`${id}.1`, 'case-0', 2],
      [`${id}.2`, 'case-2', 1],
      [`${id}.3`, 'case-2', 2],
    ]);
  });

  test('takes the demand of the case, on each axis else that of the harness', async () => {
    const cases = [
      aCase({ id: 'both', resources: { cpu: 100, memoryMb: 64 } }),
      aCase({ id: 'memory', resources: { memoryMb: 32 } }),
      aCase({ id: 'none' }),
    ];
    const pk = await world.register(aDataset({ id: 'demands', cases }));
    const { id } = await world.scorecards.create(
      world.newScorecard(pk, { fallback: { memoryMb: 8, cpuMillicores: 9 } }),
    );

    const demands = (await runsOf(id)).map((run: Record<string, unknown>) => [run.memory_mb, run.cpu_millicores]);
    expect(demands).toEqual([
      [64, 100],
      [32, 9],
      [8, 9],
    ]);
  });

  test('sends each case to the site of its own target where the scorecard names none', async () => {
    await world.runtimes.insert('default', { ...(await here()), id: 'there', version: '2.0.0' }, { slots: 3 }, MEMBER);
    const cases = ['here', 'there', 'here'].map((target, i) => aCase({ id: `${i}`, placement: { target } }));
    const pk = await world.register(aDataset({ id: 'targets', cases }));
    const byTarget = {
      here: { poolId: POOL, version: '1.0.0' },
      there: { poolId: 'rt:default:there', version: '2.0.0' },
    };
    const { id } = await world.scorecards.create(world.newScorecard(pk, { sites: { byTarget } }));

    const pools = (await runsOf(id)).map((run: Record<string, unknown>) => `${run.pool_id}@${run.runtime_version}`);
    expect(pools).toEqual(['rt:default:here@1.0.0', 'rt:default:there@2.0.0', 'rt:default:here@1.0.0']);
    expect(await world.scorecards.plan(id)).toEqual({ total: 3, slots: 7, isCancelRequested: false });
    expect((await world.scorecards.find('default', id))?.runtime).toBeNull();
  });

  test('stores nothing where a case has no site, or no case is selected', async () => {
    const pk = await world.register(aDataset({ id: 'lost', cases: [aCase({ placement: { target: 'nowhere' } })] }));
    const before = await countOf('SELECT count(*) AS count FROM scorecards');

    const nowhere = world.newScorecard(pk, { sites: { byTarget: {} } });
    await expect(world.scorecards.create(nowhere)).rejects.toMatchObject({ code: 'RUNTIME_REQUIRED' });
    const nothing = world.newScorecard(pk, { filter: { ids: ['other'] } });
    await expect(world.scorecards.create(nothing)).rejects.toMatchObject({ code: 'NO_CASES' });
    expect(await countOf('SELECT count(*) AS count FROM scorecards')).toBe(before);
  });

  test('stores 10,000 runs', async () => {
    const pk = await world.register(aDataset({ id: 'ten', size: 1_000 }));
    const { id } = await world.scorecards.create(world.newScorecard(pk, { trials: 10 }));

    expect(await world.scorecards.counts(id)).toMatchObject({ submitted: 10_000, queued: 10_000 });
  });

  const here = async () => {
    const found = await world.runtimes.find('default', 'here');
    if (!found) throw new Error('no runtime');
    return found.spec;
  };
});

describe('an idempotency key', () => {
  const keyed = async (key: string, bodyHash: string) =>
    world.newScorecard(await world.register(aDataset({ id: 'keyed' })), {
      idempotencyKey: { route: 'POST /scorecards', key, bodyHash },
    });

  test('makes one scorecard of many concurrent creates, and every one learns its id', async () => {
    const requests = await Promise.all(Array.from({ length: 20 }, () => keyed('many', 'a')));
    const creations = await Promise.all(requests.map((request) => world.scorecards.create(request)));

    expect(new Set(creations.map(({ id }) => id)).size).toBe(1);
    expect(creations.map(({ kind }) => kind).sort()).toEqual(['created', ...Array(19).fill('repeated')]);
  });

  test('with another body is a conflict', async () => {
    await world.scorecards.create(await keyed('body', 'a'));

    expect((await world.scorecards.create(await keyed('body', 'b'))).kind).toBe('conflict');
  });

  test('is free again where the create failed', async () => {
    const broken = { ...(await keyed('failed', 'a')), sites: { byTarget: {} } };
    await expect(world.scorecards.create(broken)).rejects.toThrow();

    expect((await world.scorecards.create(await keyed('failed', 'b'))).kind).toBe('created');
  });

  test('is free again after 24 hours', async () => {
    const { id } = await world.scorecards.create(await keyed('old', 'a'));
    const age = (hours: number) =>
      db.dataSource.query(
        `UPDATE idempotency_keys SET created_at = now() - make_interval(hours => $1) WHERE key = 'old'`,
        [hours],
      );
    await age(23);
    expect(await world.scorecards.create(await keyed('old', 'a'))).toEqual({ kind: 'repeated', id });
    await age(25);

    expect((await world.scorecards.create(await keyed('old', 'b'))).kind).toBe('created');
  });
});
