import type { ServerEvent } from '../../../cli/event-parser.js';
import { FinishEvent, ProgressEvent, RunEvent } from '../../../contracts/scorecard-events.js';
import { EventReader } from '../../event-reader.js';
import { eventually } from '../../eventually.js';
import { countQueries } from './query-count.js';
import { type Api, registerWorld, startApi } from './server.js';

const SIZE = 12;

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: SIZE });
}, 60_000);
afterAll(() => api.close());

const sql = (text: string, params: unknown[] = []) => api.database.dataSource.query(text, params);

const submit = async (): Promise<string> =>
  (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' })).body.id;

/** Settles runs of a scorecard in one statement, as workers do. */
const settle = (id: string, runs: number[], outcome = 'passed') =>
  sql(
    `UPDATE runs SET outcome = $3, settled_at = now(), settled_attempt = 1 WHERE scorecard_id = $1 AND ordinal = ANY ($2)`,
    [id, runs, outcome],
  );
const finish = (id: string) => sql('UPDATE scorecards SET finished_at = now() WHERE id = $1', [id]);
const urlOf = (id: string, query = '') => `${api.url}/scorecards/${id}/events${query}`;

const runsIn = (events: readonly ServerEvent[]): number[] =>
  events.filter(({ event }) => event === 'run').map(({ data }) => RunEvent.parse(JSON.parse(data)).run);
const progressIn = (events: readonly ServerEvent[]) =>
  events.filter(({ event }) => event === 'progress').map(({ data }) => ProgressEvent.parse(JSON.parse(data)));
const settledSoFar = (settled: number) => (event: ServerEvent) =>
  event.event === 'progress' && JSON.parse(event.data).counts.settled === settled;
const sorted = (runs: number[]) => runs.toSorted((a, b) => a - b);
const ALL = Array.from({ length: SIZE }, (_, run) => run);

describe('the events of a scorecard', () => {
  test('tell each run once, totals that add up and agree with what was told, and the end', async () => {
    const id = await submit();
    const reader = await EventReader.open(urlOf(id));
    await reader.until(settledSoFar(0));
    await settle(id, [4], 'failed');
    await reader.until(settledSoFar(1));
    await settle(id, [0, 1, 2, 3]);
    await reader.until(settledSoFar(5));
    await settle(id, ALL.slice(5), 'cancelled');
    await finish(id);
    expect(await reader.ended).toBe('clean');

    expect(sorted(runsIn(reader.events))).toEqual(ALL);
    let told = 0;
    for (const { event, data } of reader.events) {
      if (event === 'run') told += 1;
      if (event !== 'progress') continue;
      const { counts } = ProgressEvent.parse(JSON.parse(data));
      expect(counts.settled).toBe(told);
      expect(counts.queued + counts.waiting + counts.running + counts.settled).toBe(SIZE);
      expect(counts.passed + counts.failed + counts.errored + counts.cancelled).toBe(counts.settled);
    }
    const last = reader.events.at(-1);
    expect(last?.event).toBe('end');
    const end = FinishEvent.parse(JSON.parse(last?.data ?? ''));
    expect([end.status, end.counts.passed, end.rates.final.n]).toEqual(['completed', 4, 5]);
    expect(JSON.parse(reader.events.find(({ event }) => event === 'run')?.data ?? '')).toEqual({
      ...{ run: 4, id: `${id}.4`, caseId: 'case-4', trial: 1, outcome: 'failed' },
      ...{ errorClass: null, errorCode: null, reason: null },
    });
  });

  test('come within a second of a settled run', async () => {
    const id = await submit();
    const reader = await EventReader.open(urlOf(id));
    await reader.until(settledSoFar(0));
    for (const run of [0, 1, 2]) {
      await settle(id, [run]);
      const settled = performance.now();
      await reader.until(settledSoFar(run + 1));
      expect(performance.now() - settled).toBeLessThan(900);
    }
    reader.drop();
  });

  test('go on after whichever came last: every run is told, and none twice', async () => {
    const id = await submit();
    const reader = await EventReader.open(urlOf(id));
    await reader.until(settledSoFar(0));
    await settle(id, [7, 2, 9]);
    await reader.until(settledSoFar(3));
    await settle(id, [0]);
    await reader.until(settledSoFar(4));
    await settle(id, [1, 3, 4, 5, 6, 8, 10, 11], 'failed');
    await finish(id);
    await reader.ended;
    for (const [index, { id: last }] of reader.events.entries()) {
      const before = runsIn(reader.events.slice(0, index + 1));
      const rest = await EventReader.all(urlOf(id), { 'last-event-id': last });
      expect(sorted([...before, ...runsIn(rest)])).toEqual(ALL);
      expect(rest.at(-1)?.event).toBe('end');
    }
  });

  test('miss nothing of a transaction that commits late, and are not held up by it or by one elsewhere', async () => {
    const id = await submit();
    const [late, elsewhere] = [
      api.database.dataSource.createQueryRunner(),
      api.database.dataSource.createQueryRunner(),
    ];
    await late.startTransaction();
    await elsewhere.startTransaction();
    await elsewhere.query('SELECT pg_current_xact_id()');
    await late.query(`UPDATE runs SET outcome = 'passed', settled_at = now() WHERE id = $1`, [`${id}.0`]);
    const reader = await EventReader.open(urlOf(id));
    await settle(id, [1]);
    await reader.until(settledSoFar(1));
    const { id: last } = reader.events.at(-1) ?? {};
    reader.drop();
    await late.commitTransaction();
    await settle(id, [2]);
    const again = await EventReader.open(urlOf(id), { 'last-event-id': last ?? '' });
    await again.until(settledSoFar(3));
    expect([runsIn(reader.events), sorted(runsIn(again.events))]).toEqual([[1], [0, 2]]);
    await elsewhere.rollbackTransaction();
    again.drop();
    await late.release();
    await elsewhere.release();
  });

  test('are told the same to fifty watchers by the looks of one', async () => {
    const id = await submit();
    const readers = await Promise.all(Array.from({ length: 50 }, () => EventReader.open(urlOf(id))));
    await Promise.all(readers.map((reader) => reader.until(settledSoFar(0))));
    const queries = countQueries(api.database.dataSource);
    for (const run of ALL.slice(0, 3)) {
      await settle(id, [run]);
      await Promise.all(readers.map((reader) => reader.until(settledSoFar(run + 1))));
    }
    queries.stop();
    expect(queries.count()).toBeLessThan(50);
    for (const reader of readers) expect(runsIn(reader.events)).toEqual([0, 1, 2]);
    for (const reader of readers) reader.drop();
  });

  test('go on by looking every second where the connection that hears of changes is cut', async () => {
    const id = await submit();
    const reader = await EventReader.open(urlOf(id));
    await reader.until(settledSoFar(0));
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE application_name = 'everdict-api-notes' AND datname = current_database()`);
    await settle(id, [0]);
    await reader.until(settledSoFar(1));
    await eventually('it is heard again', async () => {
      const [{ count }] = await sql(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE application_name = 'everdict-api-notes' AND datname = current_database()`,
      );
      return count === 1;
    });
    reader.drop();
  });

  test('leave the runs out where only the totals are wanted', async () => {
    const id = await submit();
    await settle(id, ALL);
    await finish(id);
    const events = await EventReader.all(urlOf(id, '?runs=false'));
    expect(events.map(({ event }) => event)).toEqual(['progress', 'end']);
  });

  test('name the oldest case once few are left', async () => {
    const id = await submit();
    await settle(id, ALL.slice(2));
    await sql(
      `WITH opened AS (UPDATE runs SET open_attempt = 1 WHERE scorecard_id = $1 AND outcome IS NULL RETURNING id, ordinal)
       INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at)
       SELECT id, 1, 'rt:default:here', id, 1000 + ordinal, id, 'nonce', now() - ordinal * interval '1 minute' FROM opened`,
      [id],
    );
    const reader = await EventReader.open(urlOf(id, '?runs=false'));
    await reader.until(settledSoFar(SIZE - 2));
    expect(progressIn(reader.events)[0]?.oldest).toMatchObject({ run: 1, caseId: 'case-1', trial: 1 });
    expect(progressIn(reader.events)[0]?.oldest?.ageMs).toBeGreaterThan(59_000);
    reader.drop();
  });

  test.each(['x', '5', '9:5:', '5:9:12', '-~1:2:', '1:2:~3:4:~5', '1:2:~3:4:~5.6~7'])(
    'are not told from the id %s',
    async (id) => {
      const reply = await api.send('GET', `/scorecards/${await submit()}/events`, undefined, { 'last-event-id': id });
      expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining('Last-Event-ID')]);
    },
  );

  test('are not for pages of other servers', async () => {
    const headers = { origin: 'http://evil.example' };
    expect((await api.send('GET', `/scorecards/${await submit()}/events`, undefined, headers)).status).toBe(403);
  });
});

describe('stragglers', () => {
  test('run or wait, those that run first and the oldest first, compared with the finished ones', async () => {
    const id = await submit();
    const open = (run: number, minutes: number, more: string) =>
      sql(
        `WITH opened AS (UPDATE runs SET open_attempt = 1, asked_at = now(), asked_by = 'window' WHERE id = $1)
         INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at, submitted_at, end_kind)
         VALUES ($1, 1, 'rt:default:here', $1, 2000 + $2::int, $1, 'nonce', now() - $2::int * interval '1 minute', ${more})`,
        [`${id}.${run}`, minutes],
      );
    const confirmed = `now() - $2::int * interval '1 minute'`;
    await open(0, 3, `${confirmed}, 'record'`);
    for (const run of [0])
      await sql(`UPDATE attempts SET record = '{"commandMs": 30000}' WHERE run_id = $1`, [`${id}.${run}`]);
    await sql(
      `UPDATE runs SET open_attempt = NULL, settled_attempt = 1, outcome = 'passed', settled_at = now() WHERE id = $1`,
      [`${id}.0`],
    );
    await open(1, 1, 'NULL, NULL');
    await open(2, 5, `${confirmed}, NULL`);
    await open(3, 4, `${confirmed}, 'record'`);
    const ask = (run: number, by: string | null) =>
      sql(`UPDATE runs SET asked_at = now() - ordinal * interval '1 minute', asked_by = $2 WHERE id = $1`, [
        `${id}.${run}`,
        by,
      ]);
    await ask(5, 'window');
    await ask(6, null);

    const { body } = await api.send('GET', `/scorecards/${id}/stragglers`);
    expect([body.medianMs, body.queued]).toEqual([30_000, SIZE - 6]);
    expect(
      body.items.map((item: { run: number; phase: string; attempt: number }) => [item.run, item.phase, item.attempt]),
    ).toEqual([
      [2, 'running', 1],
      [3, 'finishing', 1],
      [1, 'starting', 1],
      [6, 'backing-off', 0],
      [5, 'waiting', 0],
    ]);
    const [running, , starting] = body.items;
    expect(running).toMatchObject({
      id: `${id}.2`,
      caseId: 'case-2',
      runtime: 'here@1.0.0',
      timeoutSec: 1_800,
      timesMedian: 10,
    });
    expect(running.ageMs).toBeGreaterThanOrEqual(300_000);
    expect(running.leftMs).toBe(1_800_000 - running.ageMs);
    expect([starting.leftMs, starting.timesMedian]).toEqual([null, null]);
    expect((await api.send('GET', `/scorecards/${id}/stragglers?limit=2`)).body.items).toHaveLength(2);
  });
});
