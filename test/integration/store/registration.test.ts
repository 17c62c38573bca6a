import { DatasetStore } from '../../../store/dataset.store.js';
import { HarnessStore } from '../../../store/harness.store.js';
import { PoolStore } from '../../../store/pool.store.js';
import { RegistryStore } from '../../../store/registry.store.js';
import { RuntimeStore } from '../../../store/runtime.store.js';
import { aCase, aDataset, aHarness, aNomadRuntime, aRuntime, MEMBER } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

let db: TestDatabase;
let runtimes: RuntimeStore;
let harnesses: HarnessStore;
let datasets: DatasetStore;
let pools: PoolStore;
let registry: RegistryStore;
beforeAll(async () => {
  db = await createTestDatabase({ poolSize: 20 });
  runtimes = new RuntimeStore(db.dataSource);
  harnesses = new HarnessStore(db.dataSource);
  datasets = new DatasetStore(db.dataSource);
  pools = new PoolStore(db.dataSource);
  registry = new RegistryStore(db.dataSource);
});
afterAll(() => db.drop());

function tally(words: string[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const word of words) sums[word] = (sums[word] ?? 0) + 1;
  return sums;
}

describe('a registered version', () => {
  test('is accepted again with the same content in another key order', async () => {
    const first = aHarness({ id: 'order', env: { A: '1', B: '2' }, params: { x: 1, y: 2 } });
    const again = aHarness({ params: { y: 2, x: 1 }, env: { B: '2', A: '1' }, id: 'order' });

    expect(await harnesses.insert('default', first, MEMBER)).toMatchObject({ kind: 'inserted' });
    expect(await harnesses.insert('default', again, MEMBER)).toMatchObject({ kind: 'unchanged' });
  });

  test('is refused with other content, and keeps its own', async () => {
    await harnesses.insert('default', aHarness({ id: 'fixed', command: 'true' }), MEMBER);

    expect(await harnesses.insert('default', aHarness({ id: 'fixed', command: 'false' }), MEMBER)).toMatchObject({
      kind: 'conflict',
    });
    expect((await harnesses.find('default', 'fixed'))?.spec).toMatchObject({ command: 'true' });
  });

  test('with the same cases in another order is another dataset', async () => {
    const cases = [aCase({ id: 'a' }), aCase({ id: 'b' })];
    await datasets.insert('default', aDataset({ id: 'order', cases }), MEMBER);

    expect(await datasets.insert('default', aDataset({ id: 'order', cases }), MEMBER)).toMatchObject({
      kind: 'unchanged',
    });
    expect(
      await datasets.insert('default', aDataset({ id: 'order', cases: cases.toReversed() }), MEMBER),
    ).toMatchObject({ kind: 'conflict' });
  });

  test('has one content however many register it at once', async () => {
    const contents = ['true', 'false'].map((command) => aHarness({ id: 'race', command }));
    const kinds = await Promise.all(
      Array.from({ length: 200 }, (_, i) => harnesses.insert('default', contents[i % 2] ?? aHarness(), MEMBER)),
    );

    expect(tally(kinds.map(({ kind }) => kind))).toEqual({ inserted: 1, unchanged: 99, conflict: 100 });
  });

  test('of a runtime or a dataset has one content too, and one set of cases', async () => {
    const specs = [2, 3].map((maxConcurrent) => aRuntime({ id: 'race', maxConcurrent }));
    const sets = ['x', 'y'].map((task) => aDataset({ id: 'race', cases: [aCase({ id: 'one', task })] }));
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => [
        (await runtimes.insert('default', specs[i % 2] ?? aRuntime(), { slots: 2 + (i % 2) }, MEMBER)).kind,
        (await datasets.insert('default', sets[i % 2] ?? aDataset(), MEMBER)).kind,
      ]),
    );

    const each = { inserted: 1, unchanged: 99, conflict: 100 };
    expect(tally(outcomes.map(([runtime]) => String(runtime)))).toEqual(each);
    expect(tally(outcomes.map(([, dataset]) => String(dataset)))).toEqual(each);
    const pk = (await datasets.find('default', 'race'))?.pk ?? 0;
    expect(await datasets.pageCases(pk, -1, 10)).toHaveLength(1);
  });

  test('is found by version, and without one as the latest', async () => {
    for (const version of ['1.9.0', '1.10.0', '1.10.0-rc.1', 'nightly']) {
      await harnesses.insert('default', aHarness({ id: 'many', version }), MEMBER);
    }
    const versionOf = async (ref: string) => (await harnesses.find('default', ref))?.spec.version;

    expect(await versionOf('many')).toBe('1.10.0');
    expect(await versionOf('many@latest')).toBe('1.10.0');
    expect(await versionOf('many@nightly')).toBe('nightly');
    expect(await versionOf('many@2.0.0')).toBeUndefined();
    expect(await versionOf('nothing')).toBeUndefined();
  });

  test('of another workspace is not found', async () => {
    await db.dataSource.query(`INSERT INTO workspaces (id) VALUES ('other')`);
    await harnesses.insert('other', aHarness({ id: 'theirs' }), MEMBER);

    expect(await harnesses.find('default', 'theirs')).toBeUndefined();
    expect((await registry.list('harnesses', 'other', { limit: 10 })).map(({ id }) => id)).toEqual(['theirs']);
  });
});

describe('the limits of a pool', () => {
  const insert = (version: string, slots: number) =>
    runtimes.insert('default', aNomadRuntime({ id: 'limits', version, maxConcurrent: slots }), { slots }, MEMBER);
  const limits = () => pools.limits('rt:default:limits');

  test('are those of the latest version, and their own version rises with each change', async () => {
    expect(await insert('1.0.0', 4)).toMatchObject({
      kind: 'inserted',
      limits: { poolId: 'rt:default:limits', envelopeVersion: 1 },
    });
    expect(await insert('1.1.0', 6)).toMatchObject({ limits: { envelopeVersion: 2 } });
    expect(await limits()).toMatchObject({ version: 2, kind: 'nomad', epoch: 0, envelope: { slots: 6 } });
  });

  test('stay where an older version is registered late, or the same limits again', async () => {
    expect((await insert('1.0.5', 99)).limits).toBeUndefined();
    expect((await insert('1.2.0', 6)).limits).toBeUndefined();
    expect(await limits()).toMatchObject({ version: 2, kind: 'nomad', epoch: 0, envelope: { slots: 6 } });
  });

  test('are those of the latest version after any race of registrations', async () => {
    const versions = Array.from({ length: 20 }, (_, i) => i);
    await Promise.all(
      versions.map((i) =>
        runtimes.insert(
          'default',
          aRuntime({ id: 'raced', version: `1.${i}.0` }),
          { slots: i + 1, memoryMb: 100 + i },
          MEMBER,
        ),
      ),
    );

    expect((await pools.limits('rt:default:raced')).envelope).toEqual({ slots: 20, memoryMb: 119 });
  });

  test('of a pool that does not exist are an error that names it', async () => {
    await expect(pools.limits('rt:default:nothing')).rejects.toThrow('rt:default:nothing');
  });
});
