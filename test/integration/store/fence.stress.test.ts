import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { asked, aWorld, POOL, type World } from './world.js';

const ROUNDS_MS = 4_000;

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await createTestDatabase({ poolSize: 40 });
  world = await aWorld(db.dataSource);
});
afterAll(() => db.drop());

const pick = (below: number): number => Math.floor(Math.random() * below);
const pause = () => new Promise((resolve) => setTimeout(resolve, pick(4)));

/**
 * A ledger as simple as can be: it grants while it holds fewer leases than slots, and knows of nothing but what the last
 * rebuild and its own grants told it. The fence has to make up for everything it does not know.
 */
class Ledger {
  private leases = new Set<number>();
  private epoch = 0;
  private lastSeq = 0;

  constructor(private readonly slots: number) {}

  async rebuild(): Promise<void> {
    const { epoch, live } = await world.pools.rebuild(POOL);
    this.epoch = epoch;
    this.leases = new Set(live.map(({ seq }) => seq));
    this.lastSeq = epoch * 1e9;
  }

  grant(): { seq: number; epoch: number } | undefined {
    if (this.leases.size >= this.slots) return undefined;
    this.lastSeq += 1;
    this.leases.add(this.lastSeq);
    return { seq: this.lastSeq, epoch: this.epoch };
  }

  release(seq: number): void {
    this.leases.delete(seq);
  }
}

/** Live attempts, counted by the database on its own. */
const liveNow = async (): Promise<number> =>
  (await db.dataSource.query('SELECT count(*) AS count FROM attempts WHERE closed_at IS NULL'))[0].count;

test('no more attempts are live than there are slots while the ledger is lost again and again', async () => {
  const slots = 5;
  const id = await world.submit(3_000);
  const waiting = Array.from({ length: 3_000 }, (_, ordinal) => `${id}.${ordinal}`);
  const ledger = new Ledger(slots);
  await ledger.rebuild();
  let isOver = false;
  const seen = { most: 0, opened: 0, stale: 0 };

  const contender = async () => {
    while (!isOver) {
      const grant = ledger.grant();
      const run = grant && waiting.pop();
      if (!run) {
        await pause();
        continue;
      }
      const opened = await world.attempts.open(world.opening(run, grant));
      if (opened.kind === 'refused') {
        seen.stale += 1;
        waiting.push(run);
        continue;
      }
      seen.opened += 1;
      await pause();
      await world.attempts.settle(run, 1, { outcome: 'passed' });
      await world.attempts.close(run, 1);
      ledger.release(grant.seq);
    }
  };
  const loser = async () => {
    for (; !isOver; await pause()) await ledger.rebuild();
  };
  const counter = async () => {
    while (!isOver) seen.most = Math.max(seen.most, await liveNow());
  };
  const end = async () => {
    await sleep(ROUNDS_MS);
    while (seen.opened <= 50) await pause();
    isOver = true;
  };
  await Promise.all([end(), loser(), counter(), ...Array.from({ length: 30 }, contender)]);

  expect(seen.most).toBeLessThanOrEqual(slots);
  expect(seen.opened).toBeGreaterThan(50);
  expect(seen.stale).toBeGreaterThan(0);
}, 20_000);

test('a quota of 10 lets 10 of 100 contenders through, round after round', async () => {
  await db.dataSource.query(`INSERT INTO workspaces (id, max_running) VALUES ('tight', 10)`);
  const { epoch } = await world.pools.rebuild(POOL);
  for (let round = 0; round < 5; round++) {
    const id = await world.submit(100, { workspaceId: 'tight' });
    const openings = Array.from({ length: 100 }, (_, i) =>
      world.opening(`${id}.${i}`, { epoch, seq: (round + 1) * 1e6 + i }),
    );
    const results = await Promise.all(openings.map((opening) => world.attempts.open(opening)));
    const opened = openings.filter((_, i) => results[i]?.kind === 'opened');

    expect(opened).toHaveLength(10);
    const refusals = results.flatMap((result) => (result.kind === 'refused' ? [result.refusal] : []));
    expect(refusals).toEqual(Array(90).fill({ reason: 'quota', limit: 10 }));
    await Promise.all(opened.map(({ runId }) => world.attempts.settle(runId, 1, { outcome: 'passed' })));
  }
}, 20_000);

test('cancel against open, settle and retry leaves one outcome and no cancelled run with an open attempt', async () => {
  const size = 30;
  const { epoch } = await world.pools.rebuild(POOL);
  let seq = 2e9;
  const outcomes = new Map<string, Set<string>>();
  const deadline = performance.now() + ROUNDS_MS;
  while (performance.now() < deadline) {
    const id = await world.submit(size);
    const note = async (run: string) => {
      const guards = await world.runs.guards(run);
      if (guards?.outcome) outcomes.set(run, (outcomes.get(run) ?? new Set()).add(guards.outcome));
    };
    const life = async (run: string) => {
      for (let attempt = 1; attempt <= 3; attempt++) {
        await pause();
        seq += 1;
        const opened = await world.attempts.open(world.opening(run, { attempt, epoch, seq }));
        if (opened.kind === 'refused') return note(run);
        await pause();
        const isRetried = pick(2) === 0 && (await world.attempts.closeForRetry(run, attempt));
        if (isRetried) continue;
        await Promise.all([
          world.attempts.settle(run, attempt, { outcome: 'passed' }),
          world.attempts.settle(run, attempt, { outcome: 'failed', reason: 'x' }),
        ]);
        await note(run);
        await world.attempts.close(run, attempt);
        return note(run);
      }
      await world.runs.settleUnplaced(run, { outcome: 'cancelled' });
    };
    const ids = Array.from({ length: size }, (_, i) => `${id}.${i}`);
    const cancels = [1, 2].map(async () => {
      await pause();
      await world.scorecards.requestCancel(id);
    });
    const asks = [ids, ids.toReversed()].map((runIds) => world.runs.markAsked(asked(runIds), 'window'));
    await Promise.all([...ids.map(life), ...cancels, ...asks]);
    await Promise.all(ids.map(note));
  }

  const [wrong] = await db.dataSource.query(
    `SELECT count(*) FILTER (WHERE outcome IS NOT NULL AND open_attempt IS NOT NULL) AS "openAndSettled",
       count(*) FILTER (WHERE cancel_requested_at IS NOT NULL AND outcome IS NULL) AS unfinished
     FROM runs WHERE id = ANY ($1)`,
    [[...outcomes.keys()]],
  );
  expect(wrong).toEqual({ openAndSettled: 0, unfinished: 0 });
  expect([...outcomes.values()].filter((seen) => seen.size > 1)).toEqual([]);
  expect(outcomes.size).toBeGreaterThan(size);
}, 20_000);
