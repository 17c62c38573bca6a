import type { QueryRunner } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, nextSeq, POOL, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

const aRun = async (): Promise<string> => `${await world.submit(1)}.0`;
const refusalOf = async (opening: ReturnType<typeof world.opening>) => {
  const opened = await world.attempts.open(opening);
  return opened.kind === 'refused' ? opened.refusal : opened.kind;
};
const epochNow = async (): Promise<number> =>
  (await db.dataSource.query('SELECT epoch FROM pools WHERE id = $1', [POOL]))[0].epoch;

describe('the fence', () => {
  test('opens an attempt under its grant, with the demand of its run', async () => {
    const run = await aRun();
    const opened = await world.attempts.open(world.opening(run, { hostId: 'host', seq: 4_000_000_001, epoch: 0 }));

    expect(opened).toMatchObject({
      kind: 'opened',
      attempt: {
        runId: run,
        attempt: 1,
        allocation: `everdict-${run}-1`,
        nonce: 'cafe',
        hostId: 'host',
        seq: 4_000_000_001,
      },
    });
    expect(await world.runs.guards(run)).toEqual({ openAttempt: 1, isCancelRequested: false });
  });

  test('adopts what is open under this number, whatever the epoch, and keeps its first name and lease', async () => {
    const run = await aRun();
    const first = world.opening(run);
    await world.attempts.open(first);

    const again = await world.attempts.open(world.opening(run, { epoch: 77, nonce: 'beef', allocation: 'other' }));
    expect(again).toMatchObject({
      kind: 'adopted',
      attempt: { nonce: 'cafe', allocation: first.allocation, seq: first.seq },
    });
  });

  test('opens one attempt however often the same dispatch runs', async () => {
    const run = await aRun();
    const opening = world.opening(run);
    const kinds = await Promise.all(Array.from({ length: 20 }, async () => (await world.attempts.open(opening)).kind));

    expect(kinds.toSorted()).toEqual([...Array(19).fill('adopted'), 'opened']);
  });

  test('refuses a grant of an earlier epoch', async () => {
    const run = await aRun();
    const epoch = await epochNow();
    await world.pools.rebuild(POOL);

    expect(await refusalOf(world.opening(run, { epoch }))).toEqual({ reason: 'stale-grant' });
    expect(await refusalOf(world.opening(run, { epoch: epoch + 1 }))).toBe('opened');
  });

  test('lets a lease serve one attempt only', async () => {
    const [one, two] = [await aRun(), await aRun()];
    const epoch = await epochNow();
    const seq = nextSeq();
    await world.attempts.open(world.opening(one, { seq, epoch }));

    expect(await refusalOf(world.opening(two, { seq, epoch }))).toEqual({ reason: 'stale-grant' });
    expect((await world.runs.guards(two))?.openAttempt).toBeUndefined();
  });

  test.each([
    [
      'another attempt that is open',
      async (run: string, epoch: number) => {
        await world.attempts.open(world.opening(run, { attempt: 3, epoch }));
        return world.opening(run, { attempt: 1, epoch });
      },
      { reason: 'renumber', attempt: 3, isOpen: true },
    ],
    [
      'a number that is used up',
      async (run: string, epoch: number) => {
        await world.attempts.open(world.opening(run, { epoch }));
        await world.attempts.closeForRetry(run, 1);
        return world.opening(run, { attempt: 1, epoch });
      },
      { reason: 'renumber', attempt: 2, isOpen: false },
    ],
    [
      'a run that is settled',
      async (run: string, epoch: number) => {
        await world.attempts.open(world.opening(run, { epoch }));
        await world.attempts.settle(run, 1, { outcome: 'passed' });
        return world.opening(run, { attempt: 2, epoch });
      },
      { reason: 'settled' },
    ],
    [
      'a run that is cancelled',
      async (run: string, epoch: number) => {
        await world.runs.requestCancel(run);
        return world.opening(run, { epoch });
      },
      { reason: 'cancelled' },
    ],
  ])('names %s', async (_title, arrange, want) => {
    const opening = await arrange(await aRun(), await epochNow());

    expect(await refusalOf(opening)).toEqual(want);
    expect(await refusalOf({ ...opening, epoch: -1 })).toEqual(want);
  });

  test('refuses what is over the quota of the workspace, with the limit', async () => {
    const { id } = await quotaWorld(2);
    const epoch = await epochNow();
    for (const ordinal of [0, 1]) await world.attempts.open(world.opening(`${id}.${ordinal}`, { epoch }));

    expect(await refusalOf(world.opening(`${id}.2`, { epoch }))).toEqual({ reason: 'quota', limit: 2 });
    expect(await refusalOf(world.opening(`${id}.0`, { epoch }))).toBe('adopted');
    await world.attempts.settle(`${id}.0`, 1, { outcome: 'passed' });
    expect(await refusalOf(world.opening(`${id}.2`, { epoch }))).toBe('opened');
  });

  async function quotaWorld(limit: number) {
    const workspaceId = `quota-${nextSeq()}`;
    await db.dataSource.query('INSERT INTO workspaces (id, max_running) VALUES ($1, $2)', [workspaceId, limit]);
    return { id: await world.submit(4, { workspaceId }) };
  }
});

/** A statement of another connection, stopped where it waits for a lock. */
async function blocked(work: Promise<unknown>): Promise<void> {
  const waiting = `SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  let isOver = false;
  work
    .finally(() => {
      isOver = true;
    })
    .catch(() => undefined);
  while (!isOver) {
    const [{ count }] = await db.dataSource.query(waiting);
    if (count > 0) return;
  }
}

/** Takes locks on a connection of its own, and gives them back when told. */
async function holding(sql: string, params: unknown[]): Promise<QueryRunner> {
  const runner = db.dataSource.createQueryRunner();
  await runner.query('BEGIN');
  await runner.query(sql, params);
  return runner;
}

async function commit(runner: QueryRunner): Promise<void> {
  await runner.query('COMMIT');
  await runner.release();
}

const CANCEL = `UPDATE runs SET cancel_requested_at = now(), outcome = CASE WHEN open_attempt IS NULL THEN 'cancelled' END,
  settled_at = CASE WHEN open_attempt IS NULL THEN now() END WHERE id = $1 AND outcome IS NULL`;

describe('interleavings, step by step', () => {
  test('a fence in the middle of its transaction is seen by the rebuild that waits for it', async () => {
    const run = await aRun();
    const epoch = await epochNow();
    const seq = nextSeq();
    const fence = await holding('SELECT 1 FROM pools WHERE id = $1 AND epoch = $2 FOR SHARE', [POOL, epoch]);
    const rebuild = world.pools.rebuild(POOL);
    await blocked(rebuild);
    await fence.query('UPDATE runs SET open_attempt = 1 WHERE id = $1', [run]);
    await fence.query(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce) VALUES ($1, 1, $2, $3, $4, $1, 'n')`,
      [run, POOL, `case:${run}`, seq],
    );
    await commit(fence);

    expect((await rebuild).live.map((lease) => lease.seq)).toContain(seq);
  });

  test('a fence that waits for a rebuild is refused by the new epoch', async () => {
    const run = await aRun();
    const epoch = await epochNow();
    const rebuild = await holding('UPDATE pools SET epoch = epoch + 1 WHERE id = $1', [POOL]);
    const opening = refusalOf(world.opening(run, { epoch }));
    await blocked(opening);
    await commit(rebuild);

    expect(await opening).toEqual({ reason: 'stale-grant' });
  });

  test('an open that waits for a cancel finds the run cancelled', async () => {
    const run = await aRun();
    const epoch = await epochNow();
    const cancel = await holding(CANCEL, [run]);
    const opening = refusalOf(world.opening(run, { epoch }));
    await blocked(opening);
    await commit(cancel);

    expect(await opening).toEqual({ reason: 'cancelled' });
    expect(await world.runs.guards(run)).toMatchObject({ outcome: 'cancelled' });
  });

  test('a cancel that waits for an open marks the run and leaves its attempt to the case', async () => {
    const run = await aRun();
    const open = await holding('UPDATE runs SET open_attempt = 1 WHERE id = $1', [run]);
    const cancel = world.scorecards.requestCancel(run.slice(0, -2));
    await blocked(cancel);
    await commit(open);

    expect(await cancel).toBe('requested');
    expect(await world.runs.guards(run)).toEqual({ openAttempt: 1, isCancelRequested: true });
  });

  test('a settle that waits for a cancel still settles its open attempt, once', async () => {
    const run = await aRun();
    await world.attempts.open(world.opening(run, { epoch: await epochNow() }));
    const cancel = await holding(CANCEL, [run]);
    const settle = world.attempts.settle(run, 1, { outcome: 'passed' });
    await blocked(settle);
    await commit(cancel);

    expect(await settle).toBe(true);
    expect(await world.runs.guards(run)).toEqual({ outcome: 'passed', settledAttempt: 1, isCancelRequested: true });
  });

  test('a cancel that waits for a settle leaves the outcome as it is', async () => {
    const run = await aRun();
    await world.attempts.open(world.opening(run, { epoch: await epochNow() }));
    const settled = `UPDATE runs SET outcome = 'passed', settled_at = now(), settled_attempt = 1, open_attempt = NULL WHERE id = $1`;
    const settle = await holding(settled, [run]);
    const cancel = world.scorecards.requestCancel(run.slice(0, -2));
    await blocked(cancel);
    await commit(settle);

    expect(await cancel).toBe('finished');
    expect(await world.runs.guards(run)).toEqual({ outcome: 'passed', settledAttempt: 1, isCancelRequested: false });
  });

  test('a retry that waits for a cancel becomes cancelled instead of a run that waits for ever', async () => {
    const run = await aRun();
    await world.attempts.open(world.opening(run, { epoch: await epochNow() }));
    const cancel = await holding(CANCEL, [run]);
    const retry = world.attempts.closeForRetry(run, 1);
    await blocked(retry);
    await commit(cancel);

    expect(await retry).toBe(false);
    expect(await world.runs.guards(run)).toMatchObject({ outcome: 'cancelled' });
    expect((await world.attempts.read(run, 1))?.closedAt).toBeDefined();
  });

  test('the rebuild keeps the order of a scorecard among those that asked at once', async () => {
    const id = await world.submit(12);
    const runIds = Array.from({ length: 12 }, (_, ordinal) => `${id}.${ordinal}`);
    await world.runs.markAsked(asked(runIds, 6_000), 'window:2');

    const { waiting } = await world.pools.rebuild(POOL);
    const ours = waiting.filter(({ holder }) => holder.startsWith(`case:${id}`));
    expect(ours.map(({ holder }) => holder)).toEqual(runIds.map((run) => `case:${run}`));
  });

  test('the rebuild keeps those that wait, and not those in back-off', async () => {
    const id = await world.submit(3);
    await world.runs.markAsked(asked([`${id}.0`, `${id}.1`], 5_000), 'window:1');
    await world.attempts.open(world.opening(`${id}.1`, { epoch: await epochNow() }));
    await world.attempts.closeForRetry(`${id}.1`, 1);

    const { waiting } = await world.pools.rebuild(POOL);
    const ours = waiting.filter(({ holder }) => holder.startsWith(`case:${id}`));
    expect(ours).toEqual([
      {
        ...{ holder: `case:${id}.0`, to: 'window:1', workspace: 'default', class: 'batch' },
        ...{ demand: {}, askedAt: 5_000 },
      },
    ]);
    expect((await world.runs.find('default', `${id}.1`))?.state).toBe('waiting');
  });
});
