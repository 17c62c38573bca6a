import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import type { Verdict } from '../../../policy/results.js';
import { AttemptStore } from '../../../store/attempt.store.js';
import { LogStore } from '../../../store/log.store.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase({ poolSize: 20 });
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

/** A scorecard whose runs all have attempt 1 open. */
async function openRuns(size: number): Promise<string[]> {
  const id = await world.submit(size);
  const runs = Array.from({ length: size }, (_, i) => `${id}.${i}`);
  await Promise.all(runs.map((run) => world.attempts.open(world.opening(run))));
  return runs;
}

/** The database, with a count of the statements it is sent. */
function counting(): { dataSource: DataSource; statements: () => number } {
  let statements = 0;
  const dataSource = new Proxy(db.dataSource, {
    get(target, property, receiver) {
      if (property === 'query') statements += 1;
      return Reflect.get(target, property, receiver);
    },
  });
  return { dataSource, statements: () => statements };
}

const outcomeOf = async (run: string) => (await world.runs.guards(run))?.outcome;
const BOGUS = { outcome: 'bogus' } as unknown as Verdict;

describe('settling in groups', () => {
  test('settles 150 runs that end at once with one statement, each with its own verdict', async () => {
    const runs = await openRuns(150);
    const { dataSource, statements } = counting();
    const attempts = new AttemptStore(dataSource);
    const verdictOf = (i: number): Verdict =>
      i % 2 === 0 ? { outcome: 'passed', scores: [] } : { outcome: 'failed', reason: `no ${i}` };
    const settled = await Promise.all(runs.map((run, i) => attempts.settle(run, 1, verdictOf(i))));

    expect(settled).toEqual(runs.map(() => true));
    expect(statements()).toBe(1);
    const found = await Promise.all(runs.map((run) => world.runs.find('default', run)));
    expect(found.map((run) => [run?.outcome, run?.reason])).toEqual(
      runs.map((_, i) => [verdictOf(i).outcome, verdictOf(i).reason ?? null]),
    );
  });

  test('fails the one run that cannot be settled, and settles all others of its group', async () => {
    const runs = await openRuns(40);
    const answers = await Promise.allSettled(
      runs.map((run, i) => world.attempts.settle(run, 1, i === 17 ? BOGUS : { outcome: 'passed' })),
    );

    expect(answers.map(({ status }) => status)).toEqual(runs.map((_, i) => (i === 17 ? 'rejected' : 'fulfilled')));
    const outcomes = await Promise.all(runs.map(outcomeOf));
    expect(outcomes).toEqual(runs.map((_, i) => (i === 17 ? undefined : 'passed')));
  });

  test('tells those that are stale so, and settles all others of their group', async () => {
    const runs = await openRuns(12);
    await Promise.all(runs.slice(0, 4).map((run) => world.attempts.closeForRetry(run, 1)));
    const settled = await Promise.all(runs.map((run) => world.attempts.settle(run, 1, { outcome: 'passed' })));

    expect(settled).toEqual(runs.map((_, i) => i >= 4));
  });

  test('lets one verdict stand of all that workers and cancels write at once, and deadlocks nobody', async () => {
    const scene = fc.record({
      size: fc.integer({ min: 2, max: 25 }),
      /** By worker, in its order: which runs it settles. */
      workers: fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), { minLength: 2, maxLength: 4 }),
      cancels: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(scene, async ({ size, workers, cancels }) => {
        const runs = await openRuns(size);
        const claims = workers.flatMap((picks, worker) => {
          const store = new AttemptStore(db.dataSource);
          return picks.map(async (pick) => {
            const run = runs[pick % size] ?? '';
            const verdict: Verdict = { outcome: 'failed', reason: `worker ${worker}` };
            return { run, reason: verdict.reason, isMine: await store.settle(run, 1, verdict) };
          });
        });
        const cancel = cancels ? world.scorecards.requestCancel(runs[0]?.split('.')[0] ?? '') : undefined;
        const told = await Promise.all(claims);
        await cancel;

        for (const run of runs) {
          const mine = told.filter((claim) => claim.run === run && claim.isMine);
          const wasTried = told.some((claim) => claim.run === run);
          expect(mine).toHaveLength(wasTried ? 1 : 0);
          if (wasTried) expect((await world.runs.find('default', run))?.reason).toBe(mine[0]?.reason);
        }
      }),
      { numRuns: 25 },
    );
  }, 30_000);

  test('loses none when every connection is cut: who repeats learns what was written', async () => {
    const runs = await openRuns(400);
    const settle = async (run: string): Promise<void> => {
      for (;;) {
        try {
          const isMine = await world.attempts.settle(run, 1, { outcome: 'passed' });
          if (!isMine) expect(await outcomeOf(run)).toBe('passed');
          return;
        } catch {
          // Cut off: whether it was written is what the repeat finds out.
        }
      }
    };
    const admin = await createTestDatabase({ poolSize: 1 });
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()`;
    const [{ current_database: name }] = await db.dataSource.query('SELECT current_database()');
    const settling = runs.map(async (run, i) => {
      await new Promise((resolve) => setTimeout(resolve, i / 4));
      await settle(run);
    });
    for (let times = 0; times < 5; times += 1) {
      await admin.dataSource.query(cut, [name]);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await Promise.all(settling);
    await admin.drop();

    const [{ count }] = await db.dataSource.query(
      `SELECT count(*) FROM runs WHERE id = ANY ($1) AND outcome = 'passed' AND open_attempt IS NULL`,
      [runs],
    );
    expect(Number(count)).toBe(400);
  }, 30_000);
});

describe('what ends at once', () => {
  test('is recorded and closed in groups, each attempt with its own end', async () => {
    const runs = await openRuns(60);
    const { dataSource, statements } = counting();
    const attempts = new AttemptStore(dataSource);
    await Promise.all(runs.map((run, i) => attempts.confirmSubmitted(run, 1, { node: i })));
    await Promise.all(runs.map((run, i) => attempts.recordEnd(run, 1, { kind: 'silent', detail: `end ${i}` })));
    await Promise.all(runs.map((run) => attempts.close(run, 1)));

    expect(statements()).toBe(3);
    const found = await Promise.all(runs.map((run) => world.attempts.read(run, 1)));
    expect(found.map((attempt) => [attempt?.provenance, attempt?.end, attempt?.closedAt !== undefined])).toEqual(
      runs.map((_, i) => [{ node: i }, { kind: 'silent', detail: `end ${i}` }, true]),
    );
  });
});

describe('logs of many jobs', () => {
  test('are stored together, byte for byte and each at its offsets', async () => {
    const runs = await openRuns(50);
    const { dataSource, statements } = counting();
    const logs = new LogStore(dataSource);
    const textOf = (i: number) => `line of ${i}\n`.repeat(i + 1);
    await Promise.all(runs.map((run, i) => logs.append(run, 1, [chunk(0, textOf(i)), chunk(0, `e${i}`, 'stderr')])));
    await Promise.all(runs.map((run, i) => logs.append(run, 1, [chunk(textOf(i).length, 'more')])));

    expect(statements()).toBe(2);
    const kept = await Promise.all(runs.map((run) => logs.kept(run, 1)));
    expect(kept).toEqual(runs.map((_, i) => ({ stdout: textOf(i).length + 4, stderr: `e${i}`.length })));
    const rows = await db.dataSource.query(
      `SELECT string_agg(convert_from(bytes, 'UTF8'), '' ORDER BY at) AS text FROM log_chunks
       WHERE run_id = ANY ($1) AND stream = 'stdout' GROUP BY run_id ORDER BY array_position($1, run_id)`,
      [runs],
    );
    expect(rows.map(({ text }: { text: string }) => text)).toEqual(runs.map((_, i) => `${textOf(i)}more`));
  });

  test('that two workers store at once, each in its own order, are kept once', async () => {
    const runs = await openRuns(20);
    const store = (order: string[]) => {
      const logs = new LogStore(db.dataSource);
      return Promise.all(order.map((run) => logs.append(run, 1, [chunk(0, 'one'), chunk(3, 'two')])));
    };
    for (let round = 0; round < 10; round += 1) await Promise.all([store(runs), store(runs.toReversed())]);

    const kept = await Promise.all(runs.map((run) => world.logs.kept(run, 1)));
    expect(kept).toEqual(runs.map(() => ({ stdout: 6, stderr: 0 })));
  });

  test('can be corrected, one stream at a time, and grow after that', async () => {
    const [run = ''] = await openRuns(1);
    await world.logs.append(run, 1, [chunk(0, 'one '), chunk(4, 'three'), chunk(0, 'warning', 'stderr')]);
    await world.logs.replace(run, 1, 'stdout', [chunk(0, 'one two '), chunk(20, 'late')]);
    await world.logs.append(run, 1, [chunk(24, 'st')]);

    const page = await world.logs.page(run, 1, { stdout: 0, stderr: 0 }, true);
    const found = page.map(({ stream, at, bytes }) => `${stream} ${at} ${Buffer.from(bytes)}`);
    const expected = ['stderr 0 warning', 'stdout 0 one two ', 'stdout 20 late', 'stdout 24 st'];
    expect(new Set(found)).toEqual(new Set(expected));
  });

  test('are stored although one among them has no attempt', async () => {
    const [run = ''] = await openRuns(1);
    const answers = await Promise.allSettled([
      world.logs.append(run, 1, [chunk(0, 'kept')]),
      world.logs.append(run, 9, [chunk(0, 'nowhere')]),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await world.logs.kept(run, 1)).stdout).toBe(4);
  });
});

const chunk = (at: number, text: string, stream: 'stdout' | 'stderr' = 'stdout') => ({
  stream,
  at,
  bytes: Buffer.from(text),
});
