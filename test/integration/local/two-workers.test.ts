import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptInput } from '../../../activities/attempt.js';
import { eventually } from '../../eventually.js';
import { aContext, Rig, type Worker } from './rig.js';

/** Two worker processes of one host that have to do with the same attempt, as one of them took over too soon. */
let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

let jobs = 0;

/** A job at work, and the worker that follows it. */
async function followed(command = 'sleep 600', infraRetries = 0) {
  jobs += 1;
  const ready = join(rig.site.stateDir, `ready-${jobs}`);
  const input = await rig.run({ command: `touch ${ready}; ${command}`, infraRetries });
  const worker = await rig.worker();
  const followed = worker.dispatch(input);
  await eventually('it runs', async () => existsSync(ready));
  return { input, worker, followed };
}

const outcomeOf = async ({ runId }: AttemptInput) => (await rig.world.runs.guards(runId))?.outcome;

const lost = { kind: 'failed', failure: { code: 'ALLOCATION_LOST', message: 'gone' } } as const;

/** Dies when everything is stopped, before it has told anybody. */
const diesAfterStop = (): Promise<Worker> =>
  rig.worker({
    through: (effects) => {
      const { backend } = effects;
      const stop: typeof backend.stop = async (allocation) => {
        await backend.stop(allocation);
        throw new Error('the worker died');
      };
      return { ...effects, backend: Object.assign(Object.create(backend), { stop }) };
    },
  });

test('a local try that loses its workflow task leaves the job to the other', async () => {
  const { input, worker, followed: end } = await followed('sleep 0.5');
  const env = aContext();
  const tried = (await rig.worker()).tryShort(input, env);
  env.cancel('CANCELLED');

  await expect(tried).rejects.toMatchObject({ type: 'HandedOver' });
  expect(await end).toEqual({ kind: 'record' });
  expect(await worker.finish(input, { kind: 'record' })).toEqual({ kind: 'settled', outcome: 'passed' });
});

test.each([
  ['opened', 'record'],
  ['found open', 'record'],
  ['opened, and that was reclaimed', 'refused'],
])('a worker that stood still before it started what it had %s does not start it again', async (how, kind) => {
  jobs += 1;
  const starts = join(rig.site.stateDir, `starts-${jobs}`);
  const input = await rig.run({ command: `echo start >>${starts}; sleep 0.2` });
  if (how === 'found open') {
    const rest = { allocation: `test-late-${jobs}`, nonce: 'c0ffee', hostId: await rig.hostId() };
    await rig.world.attempts.open({ ...input, ...rest });
  }
  const other = await rig.worker();
  const late = await rig.worker({
    through: (effects) => {
      const { backend } = effects;
      const submit: typeof backend.submit = async (...args) => {
        if (kind === 'record') await other.runToEnd(input);
        else await other.reclaim(input.runId).then(() => sleep(200));
        return backend.submit(...args);
      };
      return { ...effects, backend: Object.assign(Object.create(backend), { submit }) };
    },
  });

  expect(await late.dispatch(input)).toMatchObject({ kind });
  expect(existsSync(starts) ? readFileSync(starts, 'utf8') : '').toBe(kind === 'record' ? 'start\n' : '');
  const { allocation = '' } = (await rig.world.attempts.read(input.runId, 1)) ?? {};
  expect(existsSync(join(rig.site.stateDir, 'jobs', allocation))).toBe(false);
});

test('an attempt that was decided by an operator before it started is finished, not forgotten', async () => {
  const input = await rig.run({ command: 'true' });
  const late = await rig.worker({
    through: (effects) => {
      const { backend } = effects;
      const submit: typeof backend.submit = async (...args) => {
        await rig.world.runs.decide(input.runId, { outcome: 'passed' }, 'operator');
        await sleep(200);
        return backend.submit(...args);
      };
      return { ...effects, backend: Object.assign(Object.create(backend), { submit }) };
    },
  });

  expect((await late.runToEnd(input)).finished).toEqual({ kind: 'settled', outcome: 'passed' });
  expect((await rig.world.attempts.read(input.runId, 1))?.closedAt).toBeDefined();
});

describe('what a job says of itself once it is being stopped is no verdict', () => {
  test('of a run that is cancelled', async () => {
    const { input, worker, followed: end } = await followed();
    const env = aContext();
    const cancelled = (await rig.worker()).dispatch(input, env);
    env.cancel('CANCELLED');

    expect(await cancelled).toEqual({ kind: 'cancelled' });
    expect(await end).toMatchObject({ kind: 'silent' });
    expect(await worker.finish(input, { kind: 'cancelled' })).toEqual({ kind: 'settled', outcome: 'cancelled' });
  });

  test('of a run that gets another attempt', async () => {
    const { input, worker, followed: end } = await followed('sleep 600', 1);
    await expect((await diesAfterStop()).finish(input, lost)).rejects.toThrow('the worker died');

    expect(await end).toMatchObject({ kind: 'silent' });
    expect(await worker.finish(input, lost)).toMatchObject({ kind: 'retry', code: 'ALLOCATION_LOST' });
    expect(await outcomeOf(input)).toBeUndefined();
  });

  test('and is one if it said so before', async () => {
    const { input, worker, followed: end } = await followed('exit 4');
    expect(await end).toEqual({ kind: 'record' });
    await expect((await diesAfterStop()).finish(input, lost)).rejects.toThrow('the worker died');

    expect(await worker.finish(input, lost)).toEqual({ kind: 'settled', outcome: 'failed' });
  });
});

test('both of two that make room for another attempt say that there is one', async () => {
  const { input, worker } = await followed('sleep 600', 1);
  const late = await rig.worker({
    through: (effects) => {
      const { backend } = effects;
      const stop: typeof backend.stop = async (allocation) => {
        await worker.finish(input, lost);
        await backend.stop(allocation);
      };
      return { ...effects, backend: Object.assign(Object.create(backend), { stop }) };
    },
  });

  expect(await late.finish(input, lost)).toMatchObject({ kind: 'retry' });
  expect(await rig.world.runs.guards(input.runId)).toEqual({ isCancelRequested: false });
  const second = rig.grant(input.runId, 2);
  await late.leaveRunning(second);
  expect(await late.finish(second, { kind: 'cancelled' })).toEqual({ kind: 'settled', outcome: 'cancelled' });
});
