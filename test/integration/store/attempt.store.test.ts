import type { JobRecord } from '../../../policy/record.js';
import { aRecord } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
const bytes = (text: string): Uint8Array => Buffer.from(text);

async function openAttempt(): Promise<string> {
  const run = `${await world.submit(1)}.0`;
  await world.attempts.open(world.opening(run));
  return run;
}

describe('an attempt', () => {
  test('keeps its record and its answer byte for byte', async () => {
    const run = await openAttempt();
    const record = aRecord({
      ...{ usage: bytes('{"tokens": 12}'), setupFailed: { index: 2, status: 1 }, answer: everyByte, answerBytes: 256 },
      graders: [{ index: 1, status: 3, timedOut: false, ms: 20, output: everyByte }],
    });
    await world.attempts.recordEnd(run, 1, { kind: 'record' }, record);

    const stored = await world.attempts.read(run, 1);
    expect(stored?.end).toEqual({ kind: 'record' });
    expect(JSON.parse(JSON.stringify(stored?.record))).toEqual(JSON.parse(JSON.stringify(asBuffers(record))));
  });

  test('keeps its first end, unless a record comes after it', async () => {
    const run = await openAttempt();
    const lost = { kind: 'failed', failure: { code: 'NODE_LOST', message: 'node a\0b is gone' } } as const;
    await world.attempts.recordEnd(run, 1, lost);
    await world.attempts.recordEnd(run, 1, { kind: 'cancelled' });
    expect((await world.attempts.read(run, 1))?.end).toEqual({
      kind: 'failed',
      failure: { code: 'NODE_LOST', message: 'node a\uFFFDb is gone' },
    });
    await world.attempts.recordEnd(run, 1, { kind: 'record' }, aRecord({ status: 7 }));
    await world.attempts.recordEnd(run, 1, { kind: 'record' }, aRecord({ status: 8 }));

    const stored = await world.attempts.read(run, 1);
    expect([stored?.end?.kind, stored?.record?.status]).toEqual(['record', 7]);
  });

  test('is confirmed once, and not after it was closed', async () => {
    const run = await openAttempt();
    expect((await world.attempts.read(run, 1))?.submittedAt).toBeUndefined();
    expect(await world.attempts.confirmSubmitted(run, 1, { host: 'a' })).toBe(true);
    const first = (await world.attempts.read(run, 1))?.submittedAt;
    await world.attempts.confirmSubmitted(run, 1);
    expect(await world.attempts.read(run, 1)).toMatchObject({ submittedAt: first, provenance: { host: 'a' } });
    await world.attempts.close(run, 1);

    expect(await world.attempts.confirmSubmitted(run, 1)).toBe(false);
  });

  test('that is not the open one settles nothing and retries nothing', async () => {
    const run = await openAttempt();
    await world.attempts.closeForRetry(run, 1);
    await world.attempts.open(world.opening(run, { attempt: 2 }));

    expect(await world.attempts.settle(run, 1, { outcome: 'passed' })).toBe(false);
    expect(await world.attempts.closeForRetry(run, 1)).toBe(false);
    expect(await world.runs.guards(run)).toEqual({ openAttempt: 2, isCancelRequested: false });
    expect(await world.attempts.settle(run, 2, { outcome: 'passed' })).toBe(true);
  });

  test('holds its slot until it is closed', async () => {
    const run = await openAttempt();
    const isLive = async () => (await world.attempts.read(run, 1))?.closedAt === undefined;
    await world.attempts.settle(run, 1, { outcome: 'passed' });
    expect(await isLive()).toBe(true);
    await world.attempts.markCleanupPending(run, 1);
    expect((await world.attempts.list(run))[0]?.state).toBe('cleanup_pending');
    expect(await isLive()).toBe(true);
    await world.attempts.close(run, 1);

    expect(await isLive()).toBe(false);
    expect((await world.attempts.list(run))[0]?.state).toBe('closed');
  });

  test('is shown with its answer, its usage and how it ended', async () => {
    const run = await openAttempt();
    const record = aRecord({ status: 4, answer: bytes('42\n'), usage: bytes('{"tokens": 12}') });
    await world.attempts.recordEnd(run, 1, { kind: 'record' }, record);
    await world.attempts.settle(run, 1, { outcome: 'failed', reason: 'wrong' });

    const shown = { attempt: 1, end: 'record', exitCode: 4, answer: '42\n', usage: { tokens: 12 }, commandMs: 20 };
    expect(await world.attempts.list(run)).toMatchObject([shown]);
    expect(await world.runs.find('default', run)).toMatchObject({ durationMs: 20, attempts: 1 });
  });
});

const asBuffers = (record: JobRecord): unknown => ({
  ...record,
  answer: Buffer.from(record.answer),
  ...(record.usage && { usage: Buffer.from(record.usage) }),
  graders: record.graders.map((grader) => ({ ...grader, output: Buffer.from(grader.output) })),
});
