import { aContext, Rig } from './rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

describe('infrastructure that breaks', () => {
  const lost = { kind: 'failed', failure: { code: 'ALLOCATION_LOST', message: 'gone' } } as const;

  test('closes the attempt, gives the slot back, and asks for another', async () => {
    const input = await rig.run({ command: 'echo once more', infraRetries: 1 });
    const worker = await rig.worker();
    await (await rig.worker()).dispatch(input);
    await rig.world.dataSource.query('UPDATE attempts SET record = NULL, end_kind = NULL WHERE run_id = $1', [
      input.runId,
    ]);
    const retry = { kind: 'retry', code: 'ALLOCATION_LOST', delayMs: 1_000 };

    expect(await worker.finish(input, lost)).toEqual(retry);
    expect(await worker.finish(input, lost)).toEqual(retry);
    const guards = await rig.world.runs.guards(input.runId);
    expect([guards?.openAttempt, guards?.outcome]).toEqual([undefined, undefined]);

    const second = rig.grant(input.runId, 2);
    expect((await worker.runToEnd(second)).finished).toEqual({ kind: 'settled', outcome: 'passed' });
    expect(await worker.finish(input, lost)).toEqual({ kind: 'settled', outcome: 'passed' });
  });

  test('settles as it is once no attempt is left', async () => {
    const input = await rig.run({ command: 'true', infraRetries: 0 });
    const worker = await rig.worker();
    await rig.world.attempts.open({ ...input, allocation: 'test-x', nonce: 'n', hostId: await rig.hostId() });

    const end = { kind: 'settled', outcome: 'errored', errorClass: 'infra' };
    expect(await worker.finish(input, lost)).toEqual(end);
  });

  test('is not tried again when the run is to be cancelled', async () => {
    const input = await rig.run({ command: 'true' });
    const worker = await rig.worker();
    await rig.world.attempts.open({ ...input, allocation: 'test-y', nonce: 'n', hostId: await rig.hostId() });
    await rig.world.runs.requestCancel(input.runId);

    expect(await worker.finish(input, lost)).toEqual({ kind: 'settled', outcome: 'cancelled' });
  });
});

describe('cleanup that cannot be confirmed', () => {
  const stubborn = async () =>
    rig.worker({
      through: (effects) => ({
        ...effects,
        backend: Object.assign(Object.create(effects.backend), {
          stop: () => Promise.reject(new Error('the disk hangs')),
        }),
      }),
    });

  test('is tried again, whatever the clock of the worker says, then left pending with its slot held', async () => {
    const input = await rig.run({ command: 'echo done' });
    const worker = await stubborn();
    expect(await worker.tryShort(input)).toEqual({ kind: 'record' });
    await expect(worker.finish(input, { kind: 'record' })).rejects.toThrow('the disk hangs');
    expect(await rig.world.runs.guards(input.runId)).toMatchObject({ outcome: 'passed' });

    const anHourAgo = Date.now() - 3_600_000;
    const early = aContext({ scheduledTimestampMs: anHourAgo, currentAttemptScheduledTimestampMs: anHourAgo + 1_000 });
    await expect(worker.finish(input, { kind: 'record' }, early)).rejects.toThrow('the disk hangs');

    const late = aContext({ scheduledTimestampMs: Date.now() - 10 * 60_000 });
    expect(await worker.finish(input, { kind: 'record' }, late)).toEqual({ kind: 'settled', outcome: 'passed' });
    const attempt = await rig.world.attempts.read(input.runId, 1);
    expect(attempt?.cleanupPendingAt).toBeDefined();
    expect(attempt?.closedAt).toBeUndefined();
    expect(rig.released.some(({ holder }) => holder === input.holder)).toBe(false);

    await (await rig.worker()).reclaim(input.runId, input.seq);
    expect((await rig.world.attempts.read(input.runId, 1))?.closedAt).toBeDefined();
  });
});

describe('reclaiming a case whose workflow is gone', () => {
  test('removes its job, then settles it as terminated', async () => {
    const input = await rig.run({ command: 'sleep 600' });
    const worker = await rig.worker();
    await worker.leaveRunning(input);
    await worker.reclaim(input.runId, input.seq);
    await worker.reclaim(input.runId, input.seq);

    expect(await rig.processesOf(input)).toEqual([]);
    const view = await rig.world.runs.find('default', input.runId);
    expect(view).toMatchObject({ outcome: 'errored', errorClass: 'infra', errorCode: 'PLATFORM_TERMINATED' });
    expect((await rig.world.attempts.read(input.runId, 1))?.closedAt).toBeDefined();
  });

  test('settles by the record if one was stored', async () => {
    const input = await rig.run({ command: 'exit 4' });
    const worker = await rig.worker();
    await worker.dispatch(input);
    await worker.reclaim(input.runId);

    expect(await rig.world.runs.guards(input.runId)).toMatchObject({ outcome: 'failed' });
  });

  test('leaves an attempt under another lease alone', async () => {
    const input = await rig.run({ command: 'sleep 600' });
    const worker = await rig.worker();
    await worker.leaveRunning(input);
    await worker.reclaim(input.runId, input.seq + 1_000_000);
    expect(await rig.world.runs.guards(input.runId)).toMatchObject({ openAttempt: 1 });

    await worker.reclaim(input.runId, input.seq);
  });
});
