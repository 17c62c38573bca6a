import { PauseJudge } from '../../../activities/pause-judge.js';
import type { RunErrorCode } from '../../../contracts/attempt.js';
import { PauseStore } from '../../../store/pause.store.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, POOL, type World } from './world.js';

const NO_LOG = { warn: () => undefined };
let db: TestDatabase;
let world: World;
let pauses: PauseStore;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  pauses = new PauseStore(db.dataSource);
}, 60_000);
afterAll(() => db.drop());

/** An attempt of that run that ended so: by a record without a code. */
async function attemptOf(run: string, code: RunErrorCode | undefined, attempt = 1): Promise<void> {
  const { attempts } = world;
  await attempts.open(world.opening(run, { attempt }));
  const failure = code && ({ kind: 'failed', failure: { code, message: 'so it was' } } as const);
  await attempts.recordEnd(run, attempt, failure ?? { kind: 'silent', detail: 'exit code 0' });
  if (code) await attempts.closeForRetry(run, attempt);
  else {
    await attempts.settle(run, attempt, { outcome: 'passed' });
    await attempts.close(run, attempt);
  }
}

const limits = async () => (await world.pools.limits(POOL)).pausedScorecards;

test('a scorecard is paused once more than half of its last attempts broke, and is judged anew when it is resumed', async () => {
  const told: [string, number][] = [];
  const judge = new PauseJudge(pauses, { announce: async (pool, version) => void told.push([pool, version]) }, NO_LOG);
  const id = await world.submit(30);
  // Another one in the same pool, which nothing is wrong with.
  const other = await world.submit(5);
  for (let i = 0; i < 5; i += 1) await attemptOf(`${other}.${i}`, undefined);
  for (let i = 0; i < 4; i += 1) await attemptOf(`${id}.${i}`, undefined);
  for (let i = 4; i < 9; i += 1) await attemptOf(`${id}.${i}`, 'EVICTED');
  await judge.judge(id);
  expect(told).toEqual([]);

  const { version } = await world.pools.limits(POOL);
  await attemptOf(`${id}.4`, 'NODE_LOST', 2);
  await judge.judge(id);
  await judge.judge(id);
  expect(told).toEqual([[POOL, version + 1]]);
  expect(await limits()).toEqual([id]);
  expect(await world.scorecards.find('default', id)).toMatchObject({
    status: 'paused',
    pauseReason: '6 of its last 10 attempts ended as infrastructure errors: EVICTED 5, NODE_LOST 1',
    pausedAt: expect.any(String),
  });

  expect(await pauses.resume(id)).toEqual([{ poolId: POOL, envelopeVersion: version + 2 }]);
  expect([await pauses.resume(id), await limits()]).toEqual([[], []]);
  await attemptOf(`${id}.5`, 'EVICTED', 2);
  await judge.judge(id);
  expect(await world.scorecards.find('default', id)).toMatchObject({ status: 'running', pauseReason: null });
  expect(await pauses.lastEnds(id)).toEqual(['EVICTED']);
});

test('a scorecard that is paused can be cancelled; one that is cancelled or finished is not paused', async () => {
  const id = await world.submit(2);
  expect(await pauses.pause(id, 'to look at it')).toHaveLength(1);
  expect(await pauses.pause(id, 'again')).toEqual([]);
  await world.scorecards.requestCancel(id);
  expect((await world.scorecards.find('default', id))?.status).toBe('cancelling');
  await world.scorecards.complete(id);
  expect(await world.scorecards.find('default', id)).toMatchObject({
    status: 'cancelled',
    pauseReason: 'to look at it',
  });
  expect(await limits()).toEqual([]);
  expect(await pauses.pause(id, 'too late')).toEqual([]);
});

test('a run that waited too long waits anew if its scorecard was paused meanwhile', async () => {
  const id = await world.submit(3);
  const run = `${id}.0`;
  await world.runs.markAsked(asked([run], Date.now() - 60_000), 'window');
  expect(await pauses.restartWait(run)).toBe(false);
  await pauses.pause(id, 'to look at it');
  expect([await pauses.restartWait(run), await pauses.restartWait(`${id}.1`)]).toEqual([true, true]);
  expect((await world.runs.find('default', run))?.state).toBe('queued');

  await world.runs.markAsked(asked([run], Date.now() - 60_000), 'window');
  await pauses.resume(id);
  expect(await pauses.restartWait(run)).toBe(true);
  await world.runs.markAsked(asked([run], Date.now() + 1_000), 'window');
  expect(await pauses.restartWait(run)).toBe(false);
  // Whoever has an attempt waits for nothing.
  await world.attempts.open(world.opening(`${id}.2`));
  await pauses.pause(id, 'again');
  expect(await pauses.restartWait(`${id}.2`)).toBe(false);
});
