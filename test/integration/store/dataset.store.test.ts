import { setTimeout as sleep } from 'node:timers/promises';
import { createDataSource } from '../../../store/data-source.js';
import { DatasetStore } from '../../../store/dataset.store.js';
import { aCase, aDataset, MEMBER } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

let db: TestDatabase;
let datasets: DatasetStore;
beforeAll(async () => {
  db = await createTestDatabase();
  datasets = new DatasetStore(db.dataSource);
});
afterAll(() => db.drop());

async function register(parts: Record<string, unknown>): Promise<number> {
  const dataset = aDataset(parts);
  expect(await datasets.insert('default', dataset, MEMBER)).toMatchObject({ kind: 'inserted' });
  return (await datasets.find('default', `${dataset.id}@${dataset.version}`))?.pk ?? -1;
}

const idsOf = async (pk: number, filter = {}) => {
  const ids: string[] = [];
  for await (const { case: found } of datasets.selectedCases(pk, filter)) ids.push(found.id);
  return ids;
};

describe('a dataset', () => {
  test('is registered however long its cases take, where silent connections are given up sooner', async () => {
    const impatient = await createDataSource({ url: db.url, statementMs: 1_000 }).initialize();
    async function* slowly() {
      yield [aCase({ id: 'first' })];
      await sleep(2_500);
      yield [aCase({ id: 'second' })];
    }
    try {
      const head = { id: 'slow', version: '1.0.0', tags: [] };
      expect(await new DatasetStore(impatient).insertPages('default', head, slowly(), MEMBER)).toMatchObject({
        kind: 'inserted',
      });
    } finally {
      await impatient.destroy();
    }
    expect(await datasets.find('default', 'slow')).toMatchObject({ caseCount: 2 });
  });

  test('keeps its cases as they are, with ids of any characters', async () => {
    const ids = [
      'a/b',
      "it's",
      '__proto__',
      'ключ 🔑',
      '%s\\x00',
      '{}',
      ' ',
      'x'.repeat(512),
      '"',
      "'; DROP TABLE runs",
    ];
    const cases = ids.map((id, i) => aCase({ id, task: `task ${i}`, tags: i % 2 ? ['odd', 'a,b "c"'] : [] }));
    const pk = await register({ id: 'odd-ids', cases });

    expect((await datasets.pageCases(pk, -1, 100)).map((found) => found.case)).toEqual(cases);
    for (const [ordinal, id] of ids.entries()) {
      expect(await datasets.findCase(pk, id)).toEqual({ ordinal, case: cases[ordinal] });
    }
  });

  test('is shown with its size', async () => {
    await register({ id: 'shown', version: '2.1.0', description: 'some tasks', tags: ['t'], size: 7 });

    expect(await datasets.find('default', 'shown@2.1.0')).toMatchObject({
      id: 'shown',
      version: '2.1.0',
      description: 'some tasks',
      tags: ['t'],
      caseCount: 7,
    });
  });

  test('is paged by ordinal', async () => {
    const pk = await register({ id: 'paged', size: 25 });
    const pages = [];
    for (let after = -1; ; ) {
      const page = await datasets.pageCases(pk, after, 10);
      if (page.length === 0) break;
      pages.push(page.map(({ ordinal }) => ordinal));
      after = page.at(-1)?.ordinal ?? after;
    }

    expect(pages.flat()).toEqual(Array.from({ length: 25 }, (_, i) => i));
    expect(await datasets.readCase(pk, 24)).toMatchObject({ id: 'case-24' });
    expect(await datasets.readCase(pk, 25)).toBeUndefined();
  });

  test('of 5,000 cases is stored whole', async () => {
    const dataset = aDataset({ id: 'large', size: 5_000 });
    await datasets.insert('default', dataset, MEMBER);

    expect((await datasets.find('default', 'large'))?.caseCount).toBe(5_000);
  });
});

describe('a selection', () => {
  let pk: number;
  beforeAll(async () => {
    const placed = (target: string, memoryMb?: number) => ({
      placement: { target },
      resources: { cpu: 100, memoryMb },
    });
    pk = await register({
      id: 'selected',
      cases: [
        aCase({ id: 'a', tags: ['x'], ...placed('one', 512) }),
        aCase({ id: 'b', tags: ['x', 'y'], ...placed('two', 64) }),
        aCase({ id: 'c', tags: ['y'], ...placed('one') }),
        aCase({ id: 'd', tags: ['x', 'y'] }),
      ],
    });
  });

  test.each([
    ['all cases', {}, 'abcd'],
    ['those of the ids, in the order of the dataset', { ids: ['d', 'a', 'zzz'] }, 'ad'],
    ['those that carry all of the tags', { tags: ['x', 'y'] }, 'bd'],
    ['the first of them', { tags: ['x'], limit: 2 }, 'ab'],
    ['no more than there are', { limit: 99 }, 'abcd'],
  ])('is %s', async (_title, filter, want) => {
    expect((await idsOf(pk, filter)).join('')).toBe(want);
    const targets = await datasets.selection(pk, filter);
    expect(targets.reduce((sum, { cases }) => sum + cases, 0)).toBe(want.length);
  });

  test('tells the largest demand of each target, with the fallback where a case declares none', async () => {
    expect(await datasets.selection(pk, {}, { memoryMb: 256, cpuMillicores: 50 })).toEqual([
      { cases: 1, maxMemoryMb: 256, maxCpuMillicores: 50 },
      { target: 'one', cases: 2, maxMemoryMb: 512, maxCpuMillicores: 100 },
      { target: 'two', cases: 1, maxMemoryMb: 64, maxCpuMillicores: 100 },
    ]);
  });

  test('names the ids that are no case', async () => {
    expect(await datasets.unknownIds(pk, ['z', 'a', 'y'])).toEqual(['z', 'y']);
  });

  test('goes over pages', async () => {
    const large = await register({ id: 'over-pages', size: 1_201 });

    expect(await idsOf(large, { limit: 1_100 })).toHaveLength(1_100);
  });
});
