import { IdempotencyStore } from '../../../store/idempotency.store.js';
import { newId } from '../../../store/ids.js';
import type { NewRun } from '../../../store/run.store.js';
import { aCase, aDataset, aHarness, aScore } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

const newRun = (parts: Partial<NewRun> = {}): NewRun => ({
  id: newId('run'),
  workspaceId: 'default',
  case: { own: aCase({ id: 'own' }) },
  harnessPk: world.harnessPk,
  site: { poolId: POOL, version: '1.0.0' },
  class: 'interactive',
  demand: {},
  infraRetries: 2,
  params: {},
  metadata: {},
  ...parts,
});

describe('a single run', () => {
  test('has a case of its own', async () => {
    const own = aCase({ id: "it's / own", task: 'do it', env: { kind: 'repo', source: { files: { 'a.txt': 'x' } } } });
    const { id } = await world.runs.create(newRun({ case: { own }, params: { depth: 3 }, demand: { memoryMb: 5 } }));

    const job = await world.runs.jobOf(id);
    expect(job).toMatchObject({ workspaceId: 'default', case: own, harness: aHarness(), params: { depth: 3 } });
    expect(job?.runtime).toMatchObject({ id: 'here', version: '1.0.0' });
    expect(await world.runs.find('default', id)).toMatchObject({ state: 'queued', caseId: own.id, scorecard: null });
    expect(await world.runs.find('other', id)).toBeUndefined();
  });

  test('or one of a dataset', async () => {
    const pk = await world.register(aDataset({ id: 'single' }));
    const { id } = await world.runs.create(newRun({ case: { datasetPk: pk, ordinal: 1, id: 'case-1' } }));

    expect((await world.runs.jobOf(id))?.case.id).toBe('case-1');
  });

  test('is made once per idempotency key', async () => {
    const idempotencyKey = { route: 'POST /runs', key: 'k', bodyHash: 'a' };
    const creations = await Promise.all(
      Array.from({ length: 10 }, () => world.runs.create(newRun({ idempotencyKey }))),
    );
    const keys = new IdempotencyStore(db.dataSource);

    expect(new Set(creations.map(({ id }) => id)).size).toBe(1);
    expect(await keys.find('default', idempotencyKey)).toEqual({ kind: 'repeated', id: creations[0]?.id });
    expect((await keys.find('default', { ...idempotencyKey, bodyHash: 'b' }))?.kind).toBe('conflict');
    expect(await keys.find('default', { ...idempotencyKey, key: 'other' })).toBeUndefined();
  });

  test('is in the outbox until its workflow is started', async () => {
    const { id } = await world.runs.create(newRun({ demand: { memoryMb: 7 } }));
    const unstarted = async () => (await world.runs.unstarted(1_000)).find(({ runId }) => runId === id);

    expect(await unstarted()).toMatchObject({
      poolId: POOL,
      kind: 'local',
      class: 'interactive',
      demand: { memoryMb: 7 },
    });
    await world.runs.markStarted(id);
    expect(await unstarted()).toBeUndefined();
  });

  test('of a scorecard takes the parameters of the scorecard', async () => {
    const id = await world.submit(1, { params: { mode: 'fast' } });

    expect(await world.runs.jobOf(`${id}.0`)).toMatchObject({ scorecardId: id, params: { mode: 'fast' } });
    expect(await world.runs.jobOf(`${id}.99`)).toBeUndefined();
  });
});

describe('asking for a slot', () => {
  test('keeps the first time, follows who is to be told, and leaves out what is settled', async () => {
    const id = await world.submit(3);
    const runIds = [0, 1, 2].map((ordinal) => `${id}.${ordinal}`);
    await world.runs.settleUnplaced(`${id}.1`, { outcome: 'cancelled' });

    const wanting = await world.runs.markAsked(asked(runIds, 1_000), 'window');
    expect(wanting.map(({ runId }) => runId).toSorted()).toEqual([`${id}.0`, `${id}.2`]);
    await world.runs.markAsked(asked([`${id}.0`], 9_000), 'itself');
    const [row] = await db.dataSource.query('SELECT asked_at, asked_by FROM runs WHERE id = $1', [`${id}.0`]);
    expect(row).toEqual({ asked_at: new Date(1_000), asked_by: 'itself' });
    expect((await world.runs.find('default', `${id}.0`))?.state).toBe('waiting');
  });

  test('survives overlapping requests in any order', async () => {
    const id = await world.submit(60);
    const ids = Array.from({ length: 60 }, (_, ordinal) => `${id}.${ordinal}`);
    const requests = Array.from({ length: 30 }, (_, i) => (i % 2 ? ids : ids.toReversed()));

    const answers = await Promise.all(requests.map((request) => world.runs.markAsked(asked(request), 'window')));
    expect(new Set(answers.map((answer) => answer.length))).toEqual(new Set([60]));
  });
});

describe('runs of a scorecard', () => {
  test('are paged by ordinal and filtered by outcome and class', async () => {
    const id = await world.submit(12);
    const lost = { outcome: 'errored', errorClass: 'infra', errorCode: 'QUEUE_TIMEOUT', reason: 'waited' } as const;
    for (const ordinal of [1, 5]) await world.runs.settleUnplaced(`${id}.${ordinal}`, lost);
    await world.runs.settleUnplaced(`${id}.7`, { outcome: 'cancelled' });
    const page = async (filter: Parameters<typeof world.runs.pageByScorecard>[1]) =>
      (await world.runs.pageByScorecard(id, filter)).map(({ ordinal }) => ordinal);

    expect(await page({ limit: 5 })).toEqual([0, 1, 2, 3, 4]);
    expect(await page({ limit: 50, after: 4 })).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(await page({ limit: 50, errorClass: 'infra' })).toEqual([1, 5]);
    expect(await page({ limit: 50, outcome: 'cancelled' })).toEqual([7]);
    expect(await page({ limit: 1, outcome: 'errored', after: 1 })).toEqual([5]);
  });

  test('settle once, with text that Postgres could not hold as it is', async () => {
    const id = await world.submit(1);
    const scores = [aScore({ passed: false, detail: 'got \0 and \uD800' })];
    await world.attempts.open(world.opening(`${id}.0`));

    expect(await world.runs.settleUnplaced(`${id}.0`, { outcome: 'cancelled' })).toBe(false);
    expect(await world.attempts.settle(`${id}.0`, 1, { outcome: 'failed', reason: 'a\0b', scores })).toBe(true);
    expect(await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' })).toBe(false);
    expect(await world.runs.find('default', `${id}.0`)).toMatchObject({
      state: 'settled',
      outcome: 'failed',
      reason: 'a\uFFFDb',
      scores: [{ detail: 'got \uFFFD and \uFFFD' }],
      attempts: 1,
    });
    expect(await world.runs.guards(`${id}.0`)).toEqual({
      outcome: 'failed',
      settledAttempt: 1,
      isCancelRequested: false,
    });
  });

  test('are cancelled at once, or marked where an attempt is open', async () => {
    const id = await world.submit(2);
    await world.attempts.open(world.opening(`${id}.0`));

    expect(await world.runs.requestCancel(`${id}.0`)).toBe('requested');
    expect(await world.runs.guards(`${id}.0`)).toEqual({ openAttempt: 1, isCancelRequested: true });
    expect(await world.runs.requestCancel(`${id}.1`)).toBe('cancelled');
    expect(await world.runs.requestCancel(`${id}.1`)).toBe('finished');
    expect(await world.runs.requestCancel(`${id}.9`)).toBeUndefined();
  });
});
