import { ResultStore } from '../../../store/result.store.js';
import { aCase, aDataset, aRecord, aScore } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
let results: ResultStore;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  results = new ResultStore(db.dataSource);
}, 60_000);
afterAll(() => db.drop());

const datasetOf = (id: string, values: readonly string[]) => ({
  ...aDataset({ id, size: 1 }),
  cases: values.map((value, at) =>
    aCase({ id: `case-${at}`, task: 'say it', tags: ['say'], graders: [{ kind: 'equals', value }] }),
  ),
});

/** A scorecard of two cases, of which the second failed with a usage file. */
async function aScorecard(id: string): Promise<string> {
  const pk = await world.register(datasetOf(id, ['a', 'b']));
  const scorecard = (await world.scorecards.create(world.newScorecard(pk))).id;
  const run = `${scorecard}.1`;
  await world.attempts.open(world.opening(run));
  const usage = Buffer.from('{"inputTokens": 5, "outputTokens": 2, "costUsd": 0.5, "steps": 3, "other": "x"}');
  await world.attempts.recordEnd(run, 1, { kind: 'record' }, aRecord({ usage, commandMs: 1_234 }));
  await world.attempts.settle(run, 1, { outcome: 'failed', reason: 'no', scores: [aScore({ passed: false })] });
  return scorecard;
}

test('a scorecard comes with the hash of its dataset', async () => {
  const id = await aScorecard('tasks');
  expect(await results.scorecard('default', id)).toMatchObject({
    ...{ id, status: 'running', dataset: 'tasks@1.0.0', harness: 'echo@1.0.0', trials: 1 },
    datasetHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('results are those of every run, in the order of the scorecard', async () => {
  const id = await aScorecard('ordered');
  const found = await results.ofScorecard(id);
  expect(found).toEqual([
    expect.objectContaining({ runId: `${id}.0`, caseId: 'case-0', trial: 1, isDecided: false, scores: [], usage: {} }),
    {
      ...{ runId: `${id}.1`, caseId: 'case-1', trial: 1, tags: ['say'], outcome: 'failed', reason: 'no' },
      ...{ isDecided: false, scores: [aScore({ passed: false })], durationMs: 1_234 },
      usage: { tokens: 7, costUsd: 0.5, steps: 3 },
      contentHash: expect.stringMatching(/^[0-9a-f]{32}$/),
      gradersHash: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  ]);
  expect(found[0]).not.toHaveProperty('outcome');
});

test('another workspace has no such scorecard, and neither has anybody once it was deleted', async () => {
  const id = await aScorecard('elsewhere');
  expect(await results.scorecard('other', id)).toBeUndefined();
  await db.dataSource.query('UPDATE scorecards SET deleted_at = now() WHERE id = $1', [id]);
  expect(await results.scorecard('default', id)).toBeUndefined();
});

test('content and graders of a case are told apart, and other graders of the scorecard count', async () => {
  const ids: string[] = [];
  for (const [at, value] of ['b', 'c'].entries()) {
    const pk = await world.register(datasetOf(`graded-${at}`, ['a', value]));
    ids.push((await world.scorecards.create(world.newScorecard(pk))).id);
  }
  const [one = [], other = []] = await Promise.all(ids.map((id) => results.ofScorecard(id)));
  expect(one.map(({ contentHash }) => contentHash)).toEqual(other.map(({ contentHash }) => contentHash));
  expect(one[0]?.gradersHash).toBe(other[0]?.gradersHash);
  expect(one[1]?.gradersHash).not.toBe(other[1]?.gradersHash);

  const graders = JSON.stringify([{ id: 'equals', kind: 'equals', value: 'a' }]);
  await db.dataSource.query('UPDATE scorecards SET graders = $2 WHERE id = $1', [ids[1], graders]);
  const regraded = await results.ofScorecard(ids[1] ?? '');
  expect(regraded.map(({ gradersHash }) => gradersHash)).toEqual([one[0]?.gradersHash, one[0]?.gradersHash]);
});

test('a result that was carried has usage and time of the run it came from', async () => {
  const origin = await aScorecard('carried');
  const pk = (await world.datasets.find('default', 'carried@1.0.0'))?.pk ?? 0;
  const { id } = await world.scorecards.create(world.newScorecard(pk));
  await db.dataSource.query(
    `UPDATE runs r SET carried_from = o.id, outcome = o.outcome, scores = o.scores, settled_at = o.settled_at,
       settled_attempt = o.settled_attempt
     FROM runs o WHERE r.id = $1 AND o.id = $2`,
    [`${id}.1`, `${origin}.1`],
  );
  const [, carried] = await results.ofScorecard(id);
  expect(carried).toMatchObject({ runId: `${id}.1`, outcome: 'failed', usage: { tokens: 7 }, durationMs: 1_234 });
});
