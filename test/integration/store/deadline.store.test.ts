import { DeadlineStore } from '../../../store/deadline.store.js';
import { OutboxStore } from '../../../store/outbox.store.js';
import { aRecord } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
let deadlines: DeadlineStore;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
  deadlines = new DeadlineStore(db.dataSource);
});
afterAll(() => db.drop());

test('at the deadline every run without outcome is ended, but one whose record is in hand', async () => {
  const id = await world.submit(6, { deadlineSec: 60 });
  const [settled, running, cancelling, recorded, waiting, queued] = [0, 1, 2, 3, 4, 5].map((i) => `${id}.${i}`) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  await world.runs.settleUnplaced(settled, { outcome: 'passed' });
  for (const run of [running, cancelling, recorded]) await world.attempts.open(world.opening(run));
  await world.runs.requestCancel(cancelling);
  await world.attempts.recordEnd(recorded, 1, { kind: 'record' }, aRecord());
  await world.runs.markAsked(asked([waiting]), 'window');
  await deadlines.endLate(id);
  await deadlines.endLate(id);

  const shown = async (run: string) => {
    const found = await world.runs.find('default', run);
    return [found?.state, found?.outcome, found?.errorClass, found?.errorCode, found?.reason];
  };
  const late = (where: string) => [
    ...['settled', 'errored', 'infra', 'DEADLINE_EXCEEDED'],
    `the scorecard's deadline, 60 s after it was submitted, passed ${where}`,
  ];
  expect(await shown(settled)).toEqual(['settled', 'passed', null, null, null]);
  expect(await shown(running)).toEqual(late('while it ran, and it was stopped'));
  expect(await shown(cancelling)).toEqual(['settled', 'cancelled', null, null, null]);
  expect(await shown(recorded)).toEqual(['running', null, null, null, null]);
  expect(await shown(waiting)).toEqual(late('while it waited for a slot'));
  expect(await shown(queued)).toEqual(late('before its turn came'));
});

test('a decision over a run that runs leaves its attempt to be stopped, and a later settle changes nothing', async () => {
  const id = await world.submit(1);
  const run = `${id}.0`;
  await world.attempts.open(world.opening(run));
  expect(await world.runs.decide(run, { outcome: 'failed', reason: 'it hangs' }, 'ann')).toBe(true);
  expect(await world.runs.decide(run, { outcome: 'passed' }, 'bob')).toBe(false);
  expect(await world.attempts.settle(run, 1, { outcome: 'passed' })).toBe(false);
  expect(await world.attempts.closeForRetry(run, 1)).toBe(false);
  expect(await world.runs.find('default', run)).toMatchObject({ outcome: 'failed', decidedBy: 'ann' });

  const outbox = new OutboxStore(db.dataSource);
  expect(await outbox.cancellingRuns(10)).toContain(run);
  // Whoever comes to go on with the attempt stops it.
  expect(await world.attempts.open(world.opening(run))).toMatchObject({ kind: 'adopted', isCancelRequested: true });
  expect(await world.scorecards.complete(id)).toBe(false);
  await world.attempts.close(run, 1);
  expect(await outbox.cancellingRuns(10)).not.toContain(run);
  expect(await world.scorecards.complete(id)).toBe(true);
});

test('a scorecard ends while the removal of an attempt is given up, and stays pending', async () => {
  const id = await world.submit(1);
  await world.attempts.open(world.opening(`${id}.0`));
  await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });
  expect(await world.scorecards.complete(id)).toBe(false);
  await world.attempts.markCleanupPending(`${id}.0`, 1);
  expect(await world.scorecards.complete(id)).toBe(true);
});
