import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptInput } from '../../../activities/attempt.js';
import { eventually } from '../../eventually.js';
import { wholeLog } from '../../whole-log.js';
import { aContext, Rig, type Worker } from './rig.js';

/** A worker that is killed while Postgres is busy with its statement, which goes on, and commits while the next is at work. */
let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

/** Statements that wait for a lock. */
const waiting = async (): Promise<number> => {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await rig.world.dataSource.query(sql)).length;
};

const untilWaiting = (count: number) => eventually(`${count} statements wait`, async () => (await waiting()) >= count);

/** Keeps everybody from writing this row, until what is returned is called. */
async function hold(table: 'runs' | 'attempts', key: 'id' | 'run_id', { runId }: AttemptInput) {
  const db = rig.world.dataSource.createQueryRunner();
  await db.query('BEGIN');
  await db.query(`SELECT FROM ${table} WHERE ${key} = $1 FOR UPDATE`, [runId]);
  return async () => {
    await db.query('COMMIT');
    await db.release();
  };
}

/** Dies with its first statement that settles, or stores output, under way. */
const dying = (): Promise<Worker> =>
  rig.worker({
    through: (effects) => {
      const { attempts, logs } = effects;
      const died = (): never => {
        throw new Error('the worker died');
      };
      const settle: typeof attempts.settle = (...args) => attempts.settle(...args).then(died);
      const append: typeof logs.append = (...args) => logs.append(...args).then(died);
      return {
        ...effects,
        attempts: Object.assign(Object.create(attempts), { settle }),
        logs: Object.assign(Object.create(logs), { append }),
      };
    },
  });

test('leaves a group of verdicts that the next worker finds written, once each', async () => {
  const statuses = [0, 4, 0, 5, 0];
  const inputs = await Promise.all(statuses.map((status) => rig.run({ command: `exit ${status}` })));
  const [dead, next] = [await dying(), await rig.worker()];
  const ends = await Promise.all(inputs.map((input) => next.dispatch(input)));
  expect(ends).toEqual(inputs.map(() => ({ kind: 'record' })));
  const release = await hold('runs', 'id', inputs[2] as AttemptInput);
  const dies = Promise.allSettled(inputs.map((input) => dead.finish(input, { kind: 'record' })));
  await untilWaiting(1);
  const finished = Promise.all(inputs.map((input) => next.finish(input, { kind: 'record' })));
  await untilWaiting(2);
  await release();

  expect((await dies).map(({ status }) => status)).toEqual(inputs.map(() => 'rejected'));
  const outcomes = statuses.map((status) => (status === 0 ? 'passed' : 'failed'));
  expect(await finished).toEqual(outcomes.map((outcome) => ({ kind: 'settled', outcome })));
  for (const input of inputs) {
    expect((await rig.world.attempts.read(input.runId, 1))?.closedAt).toBeDefined();
    expect(await rig.processesOf(input)).toEqual([]);
    expect(rig.released.filter(({ holder }) => holder === input.holder)).toHaveLength(1);
  }
});

test('leaves output that the next worker goes on with, and not a byte is missing', async () => {
  const [print, more] = ['print', 'more'].map((name) => join(rig.site.stateDir, name));
  const until = (file: string | undefined) => `until [ -e ${file} ]; do sleep 0.02; done`;
  const input = await rig.run({ command: `${until(print)}; printf 'first, '; ${until(more)}; printf second` });
  const [dead, next, env] = [await dying(), await rig.worker(), aContext()];
  const dies = dead.dispatch(input, env).catch((error: unknown) => error);
  await eventually('it is followed', async () => (await rig.world.attempts.read(input.runId, 1))?.submittedAt);
  const release = await hold('attempts', 'run_id', input);
  writeFileSync(print ?? '', '');
  await untilWaiting(1);
  env.cancel('WORKER_SHUTDOWN');
  writeFileSync(more ?? '', '');
  const end = next.collect(input);
  await untilWaiting(2);
  await release();

  expect(await dies).toMatchObject({ message: 'the worker died' });
  expect(await end).toEqual({ kind: 'record' });
  expect(await next.finish(input, { kind: 'record' })).toEqual({ kind: 'settled', outcome: 'passed' });
  const log = await wholeLog(rig.world.logs, input.runId, 1, 'stdout');
  expect(log.map(({ bytes }) => String(bytes)).join('')).toBe('first, second');
});
