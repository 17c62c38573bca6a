import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { wholeLog } from '../../whole-log.js';
import { aContext, Rig } from './rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

const fileOf = (name: string) => join(rig.site.stateDir, name);

async function untilExists(path: string): Promise<void> {
  for (let turn = 0; turn < 1_000 && !existsSync(path); turn++) await sleep(5);
  expect(existsSync(path)).toBe(true);
}

describe('an attempt', () => {
  test('goes from its grant to its verdict in one call, and leaves nothing', async () => {
    const worker = await rig.worker();
    const input = await rig.run({
      command: 'echo 42; echo note >&2',
      case: { graders: [{ kind: 'equals', value: '42' }] },
    });

    const result = { kind: 'settled', outcome: 'passed' };
    expect(await worker.tryShort(input)).toEqual({ kind: 'finished', result });

    const attempt = await rig.world.attempts.read(input.runId, 1);
    expect(attempt).toMatchObject({
      end: { kind: 'record' },
      provenance: { everdict: '1.2.3', enforced: { cpu: false, memoryMb: false } },
    });
    expect(attempt?.submittedAt).toBeDefined();
    expect(attempt?.closedAt).toBeDefined();
    expect(rig.released.filter(({ holder }) => holder === input.holder)).toEqual([
      { holder: input.holder, seq: input.seq, end: 'ran' },
    ]);
    expect(await rig.processesOf(input)).toEqual([]);
    expect(existsSync(fileOf(`jobs/${attempt?.allocation}`))).toBe(false);
    const logs = await wholeLog(rig.world.logs, input.runId, 1);
    expect(Object.fromEntries(logs.map(({ stream, bytes }) => [stream, String(bytes)]))).toEqual({
      stdout: '42\n',
      stderr: 'note\n',
    });
  });

  test('that settled its run and was not closed yet is finished by the next try', async () => {
    const input = await rig.run({ command: 'true' });
    expect(await (await rig.worker()).dispatch(input)).toEqual({ kind: 'record' });
    await rig.world.attempts.settle(input.runId, 1, { outcome: 'passed', scores: [] });

    const next = await rig.worker();
    expect((await next.runToEnd(input)).finished).toEqual({ kind: 'settled', outcome: 'passed' });
    expect((await rig.world.attempts.read(input.runId, 1))?.closedAt).toBeDefined();
    expect(await rig.processesOf(input)).toEqual([]);
  });

  test('that takes longer than a local try is left alone by it, and gone on with by any worker', async () => {
    const [starts, gate] = [fileOf('long-starts'), fileOf('long-gate')];
    const input = await rig.run({
      command: `echo start >>${starts}; until [ -e ${gate} ]; do sleep 0.02; done; echo done`,
    });
    const before = performance.now();
    expect(await (await rig.worker()).tryShort(input)).toEqual({ kind: 'running' });
    expect(performance.now() - before).toBeLessThan(2_900);

    const other = await rig.worker();
    const dispatched = other.dispatch(input);
    writeFileSync(gate, '');
    expect(await dispatched).toEqual({ kind: 'record' });
    expect(await other.finish(input, { kind: 'record' })).toEqual({ kind: 'settled', outcome: 'passed' });
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
  });

  test('G69: survives the death of its worker, is adopted by the next, and never runs twice', async () => {
    const [starts, gate] = [fileOf('adopt-starts'), fileOf('adopt-gate')];
    const input = await rig.run({
      command: `echo start >>${starts}; until [ -e ${gate} ]; do sleep 0.02; done; echo done`,
    });
    const [dying, env] = [await rig.worker(), aContext()];
    const dispatched = dying.dispatch(input, env);
    await untilExists(starts);
    env.cancel('WORKER_SHUTDOWN');
    await expect(dispatched).rejects.toMatchObject({ type: 'HandedOver' });
    expect((await rig.processesOf(input)).length).toBeGreaterThan(0);

    const next = await rig.worker();
    const adopted = next.dispatch(input);
    writeFileSync(gate, '');
    expect(await adopted).toEqual({ kind: 'record' });
    expect(await next.finish(input, { kind: 'record' })).toMatchObject({ outcome: 'passed' });
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
  });

  test('dispatched twice at once starts once, and both learn the same end', async () => {
    const starts = fileOf('twice-starts');
    const input = await rig.run({ command: `echo start >>${starts}; sleep 0.2; echo done` });
    const workers = [await rig.worker(), await rig.worker(), await rig.worker()];
    const ends = await Promise.all(workers.map((worker) => worker.dispatch(input)));
    const finished = await Promise.all(workers.map((worker) => worker.finish(input, { kind: 'record' })));

    expect(ends).toEqual([{ kind: 'record' }, { kind: 'record' }, { kind: 'record' }]);
    expect(new Set(finished.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['{"kind":"settled","outcome":"passed"}']),
    );
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
    expect(
      String((await wholeLog(rig.world.logs, input.runId, 1, 'stdout')).map(({ bytes }) => String(bytes)).join('')),
    ).toBe('done\n');
  });

  test('is stopped when its cancel is asked for, and reads cancelled', async () => {
    const ready = fileOf('cancel-ready');
    const input = await rig.run({ command: `trap '' TERM; setsid sleep 600 & touch ${ready}; sleep 600` });
    const [worker, env] = [await rig.worker(), aContext()];
    const dispatched = worker.dispatch(input, env);
    await untilExists(ready);
    await rig.world.runs.requestCancel(input.runId);
    env.cancel('CANCELLED');

    expect(await dispatched).toEqual({ kind: 'cancelled' });
    expect(await rig.processesOf(input)).toEqual([]);
    expect(await worker.finish(input, { kind: 'cancelled' })).toEqual({ kind: 'settled', outcome: 'cancelled' });
    expect(await rig.world.runs.guards(input.runId)).toMatchObject({ outcome: 'cancelled' });
  });

  test('keeps a record that was in hand before its cancel', async () => {
    const input = await rig.run({ command: 'echo done' });
    const worker = await rig.worker();
    await worker.dispatch(input);
    await rig.world.runs.requestCancel(input.runId);
    const env = aContext();
    env.cancel('CANCELLED');

    expect(await worker.dispatch(input, env)).toEqual({ kind: 'record' });
    expect(await worker.finish(input, { kind: 'cancelled' })).toEqual({ kind: 'settled', outcome: 'passed' });
  });

  test('has nothing left to collect on this host, and says again how it ended', async () => {
    const input = await rig.run({ command: 'echo done' });
    const worker = await rig.worker();
    await worker.leaveRunning(input);
    expect(await worker.collect(input)).toEqual({ kind: 'record' });
    await worker.finish(input, { kind: 'record' });

    expect(await worker.collect(input)).toEqual({ kind: 'record' });
  });

  test('that fails while its cancel is on the way reads cancelled', async () => {
    const input = await rig.run({ command: 'kill -9 0' });
    const worker = await rig.worker();
    expect(await worker.dispatch(input)).toMatchObject({ kind: 'silent' });
    await rig.world.runs.requestCancel(input.runId);

    const end = { kind: 'silent', detail: 'gone' } as const;
    expect(await worker.finish(input, end)).toEqual({ kind: 'settled', outcome: 'cancelled' });
  });

  test('heartbeats every second while it is followed', async () => {
    const input = await rig.run({ command: 'sleep 1.5' });
    const env = aContext();
    const beats: unknown[] = [];
    env.on('heartbeat', (details) => beats.push(details));
    const worker = await rig.worker();
    await worker.dispatch(input, env);
    await worker.finish(input, { kind: 'record' });

    expect(beats.length).toBeGreaterThanOrEqual(1);
    expect(beats[0]).toMatchObject({ stdout: 0, stderr: 0 });
  });
});

describe('the fence', () => {
  test('refuses a run that was cancelled before, and nothing is started', async () => {
    const starts = fileOf('refused-starts');
    const input = await rig.run({ command: `echo start >>${starts}` });
    await rig.world.runs.requestCancel(input.runId);

    expect(await (await rig.worker()).tryShort(input)).toEqual({ kind: 'refused', refusal: { reason: 'cancelled' } });
    expect(existsSync(starts)).toBe(false);
  });

  test('stops a job that was created while its attempt was being closed', async () => {
    const input = await rig.run({ command: 'sleep 600' });
    const late = await rig.worker({
      through: (effects) => {
        const { backend } = effects;
        const submit: typeof backend.submit = async (...args) => {
          const submitted = await backend.submit(...args);
          await rig.world.attempts.settle(input.runId, 1, { outcome: 'passed' });
          await rig.world.attempts.close(input.runId, 1);
          return submitted;
        };
        return { ...effects, backend: Object.assign(Object.create(backend), { submit }) };
      },
    });

    expect(await late.tryShort(input)).toEqual({ kind: 'refused', refusal: { reason: 'stale-grant' } });
    expect(await rig.processesOf(input)).toEqual([]);
  });
});

describe('another host', () => {
  test('neither reads, settles nor kills a local attempt', async () => {
    const ready = fileOf('host-ready');
    const input = await rig.run({ command: `touch ${ready}; sleep 600` });
    const [owner, stranger] = [await rig.worker(), await rig.worker({ host: false })];
    const env = aContext();
    const dispatched = owner.dispatch(input, env);
    await untilExists(ready);

    await expect(stranger.tryShort(input)).rejects.toMatchObject({ code: 'WRONG_HOST' });
    await expect(stranger.dispatch(input)).rejects.toMatchObject({ code: 'WRONG_HOST' });
    await expect(stranger.finish(input, { kind: 'cancelled' })).rejects.toMatchObject({ code: 'WRONG_HOST' });
    await expect(stranger.reclaim(input.runId)).rejects.toMatchObject({ code: 'WRONG_HOST' });
    expect((await rig.processesOf(input)).length).toBeGreaterThan(0);
    expect(await rig.world.runs.guards(input.runId)).toMatchObject({ openAttempt: 1 });

    env.cancel('CANCELLED');
    await dispatched;
    await owner.finish(input, { kind: 'cancelled' });
  });
});
