import fc from 'fast-check';
import { RetentionStore } from '../../../store/retention.store.js';
import { finish } from './finished.js';
import { type Api, type Reply, registerWorld, startApi } from './server.js';

const HOUR_SEC = 3_600;

let api: Api;
let retention: RetentionStore;
beforeAll(async () => {
  api = await startApi({ env: { EVERDICT_DELETION_GRACE_SEC: String(HOUR_SEC) } });
  await registerWorld(api);
  retention = new RetentionStore(api.database.dataSource);
}, 60_000);
afterAll(() => api.close());
afterEach(() => api.send('PUT', '/retention', { resultsDays: null, logsDays: null }));

const sql = (statement: string, ...params: unknown[]): Promise<Reply['body']> =>
  api.database.dataSource.query(statement, params);

async function submit(parts: object = {}): Promise<string> {
  const request = { dataset: 'tasks', harness: 'echo', runtime: 'here', ...parts };
  return (await api.send('POST', '/scorecards', request)).body.id;
}

async function finished(outcomes: readonly string[] = ['passed'], parts: object = {}): Promise<string> {
  const id = await submit(parts);
  await finish(api, id, outcomes);
  return id;
}

const logOf = (id: string, text = 'hello', ordinal = 0) =>
  sql(
    `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes) VALUES ($1, 1, 'stdout', 0, $2)`,
    `${id}.${ordinal}`,
    Buffer.from(text),
  );

const age = (id: string, days: number) =>
  sql(`UPDATE scorecards SET finished_at = now() - make_interval(days => $2) WHERE id = $1`, id, days);

/** As if the grace period had passed. */
const expire = (id: string) => sql(`UPDATE scorecards SET purge_at = now() WHERE id = $1`, id);

async function purgeAll(): Promise<void> {
  while (await new RetentionStore(api.database.dataSource).purge());
}

const rowsOf = async (id: string): Promise<Record<string, number>> => {
  const [counts] = await sql(
    `SELECT (SELECT count(*)::int FROM scorecards WHERE id = $1) AS scorecards,
       (SELECT count(*)::int FROM runs WHERE scorecard_id = $1) AS runs,
       (SELECT count(*)::int FROM attempts WHERE run_id LIKE $1 || '.%') AS attempts,
       (SELECT count(*)::int FROM log_chunks WHERE run_id LIKE $1 || '.%') AS chunks`,
    id,
  );
  return counts;
};
const NOTHING = { scorecards: 0, runs: 0, attempts: 0, chunks: 0 };

const paths = (id: string): string[] => [
  `/scorecards/${id}`,
  ...['cases', 'stragglers', 'events', 'export'].map((what) => `/scorecards/${id}/${what}`),
  ...['', '/attempts', '/logs', '/logs?follow=true', '/waiting'].map((what) => `/runs/${id}.0${what}`),
];

describe('a scorecard that is deleted', () => {
  test('is seen by nobody at once, and says until when it can be restored; then it is back as it was', async () => {
    const id = await finished();
    await logOf(id);
    const shown = await Promise.all([`/scorecards/${id}`, `/scorecards/${id}/cases`, `/runs/${id}.0/logs`].map(read));
    const counted = await read('/metrics');
    const { status, body } = await api.send('DELETE', `/scorecards/${id}`);
    expect([status, body]).toEqual([
      200,
      { id, deletedAt: expect.any(String), deletedBy: 'local', purgeAt: expect.any(String) },
    ]);
    expect(Date.parse(body.purgeAt) - Date.parse(body.deletedAt)).toBe(HOUR_SEC * 1_000);

    for (const path of paths(id)) {
      const reply = await api.send('GET', path);
      expect([path, reply.status, reply.body.detail]).toEqual([path, 404, expect.stringContaining(body.purgeAt)]);
      expect(reply.body.detail).toContain(`POST /scorecards/${id}/restore`);
    }
    for (const [method, path, sent] of [
      ['POST', `/scorecards/${id}/cancel`],
      ['POST', `/scorecards/${id}/retry?class=infra`],
      ['PUT', '/baselines/main', { scorecard: id }],
      ['DELETE', `/scorecards/${id}`],
    ] as const) {
      expect([path, (await api.send(method, path, sent)).status]).toEqual([path, 404]);
    }
    expect((await read('/scorecards?limit=500')).items.map((each: { id: string }) => each.id)).not.toContain(id);
    expect(await read('/metrics')).not.toBe(counted);

    expect((await api.send('POST', `/scorecards/${id}/restore`)).body).toEqual(shown[0]);
    expect(await Promise.all([`/scorecards/${id}/cases`, `/runs/${id}.0/logs`].map(read))).toEqual(shown.slice(1));
    expect((await api.send('POST', `/scorecards/${id}/restore`)).status).toBe(200);
    const trail = await read(`/audit?object=${id}`);
    expect(trail.items.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['scorecards.delete', 'scorecards.restore']),
    );
  });

  test('is gone after the grace period, with all that was its own, and stays gone', async () => {
    const id = await finished();
    await logOf(id);
    await sql('INSERT INTO wait_predictions (run_id, p50_at, p90_at) VALUES ($1, now(), now())', `${id}.0`);
    const other = await finished();
    await logOf(other);
    await api.send('DELETE', `/scorecards/${id}`);
    await purgeAll();
    expect(await rowsOf(id)).toMatchObject({ scorecards: 1, runs: 3, chunks: 1 });
    await expire(id);
    expect((await api.send('POST', `/scorecards/${id}/restore`)).status).toBe(404);
    await purgeAll();
    expect(await rowsOf(id)).toEqual(NOTHING);
    expect(await rowsOf(other)).toEqual({ scorecards: 1, runs: 3, attempts: 3, chunks: 1 });
    const { detail } = (await api.send('GET', `/scorecards/${id}`)).body;
    expect(detail).toBe(`there is no scorecard ${id}`);
    const { items } = await read(`/audit?object=${id}`);
    expect(items[0]).toMatchObject({ action: 'scorecards.purge', subject: 'retention' });
  });

  test('waits for a job that nobody could remove yet', async () => {
    const id = await finished();
    await sql('UPDATE attempts SET closed_at = NULL, cleanup_pending_at = now() WHERE run_id = $1', `${id}.1`);
    await api.send('DELETE', `/scorecards/${id}`);
    await expire(id);
    await purgeAll();
    expect(await rowsOf(id)).toMatchObject({ runs: 3 });
    await sql('UPDATE attempts SET closed_at = now() WHERE run_id = $1', `${id}.1`);
    await purgeAll();
    expect(await rowsOf(id)).toEqual(NOTHING);
  });
});

const read = async (path: string): Promise<Reply['body']> => (await api.send('GET', path)).body;

describe('a scorecard stays', () => {
  const refused = async (id: string): Promise<string> => {
    const { status, body } = await api.send('DELETE', `/scorecards/${id}`);
    expect(status).toBe(409);
    expect((await api.send('GET', `/scorecards/${id}`)).status).toBe(200);
    return body.detail;
  };

  test('while it runs', async () => {
    const id = await submit();
    expect(await refused(id)).toContain(`POST /scorecards/${id}/cancel`);
  });

  test('while it is pinned', async () => {
    const id = await finished();
    await api.send('PUT', '/baselines/release', { scorecard: id });
    expect(await refused(id)).toContain('DELETE /baselines/release');
    await api.send('DELETE', '/baselines/release');
    expect((await api.send('DELETE', `/scorecards/${id}`)).status).toBe(200);
  });

  test('while another carries its results, which comes back only after it', async () => {
    const first = await finished(['passed', 'errored/infra/NODE_LOST', 'failed']);
    const second = (await api.send('POST', `/scorecards/${first}/retry?class=infra`)).body.id;
    await finish(api, second, ['passed']);
    expect(await refused(first)).toContain(`DELETE /scorecards/${second}`);
    await api.send('DELETE', `/scorecards/${second}`);
    expect((await api.send('DELETE', `/scorecards/${first}`)).status).toBe(200);
    const { status, body } = await api.send('POST', `/scorecards/${second}/restore`);
    expect([status, body.detail]).toEqual([409, expect.stringContaining(`POST /scorecards/${first}/restore`)]);
    // What is carried goes after what carries it, whichever was deleted first.
    await expire(first);
    await purgeAll();
    expect(await rowsOf(first)).toMatchObject({ scorecards: 1, runs: 3 });
    await expire(second);
    await purgeAll();
    expect([await rowsOf(first), await rowsOf(second)]).toEqual([NOTHING, NOTHING]);
  });

  test('with the results of what it was retried from', async () => {
    const first = await finished(['failed']);
    const second = (await api.send('POST', `/scorecards/${first}/retry?class=failed`)).body.id;
    expect((await api.send('DELETE', `/scorecards/${first}`)).status).toBe(200);
    await expire(first);
    await purgeAll();
    expect(await read(`/scorecards/${second}`)).toMatchObject({ retryOf: first });
  });
});

describe('retention', () => {
  test('is set for a workspace, and logs go with their results at the latest', async () => {
    const unset = { resultsDays: null, logsDays: null, graceDays: HOUR_SEC / 86_400 };
    expect(await read('/retention')).toEqual(unset);
    const set = { resultsDays: 30, logsDays: 7 };
    expect((await api.send('PUT', '/retention', set)).body).toEqual({ ...unset, ...set });
    expect(await read('/retention')).toEqual({ ...unset, ...set });
    for (const wrong of [
      { resultsDays: 7, logsDays: 30 },
      { resultsDays: 0, logsDays: null },
      { resultsDays: 7 },
      {},
    ]) {
      expect([wrong, (await api.send('PUT', '/retention', wrong)).status]).toEqual([wrong, 400]);
    }
  });

  test('deletes what is too old, but nothing that runs, is pinned, or whose results another carries', async () => {
    const [old, fresh, pinned] = [await finished(), await finished(), await finished()];
    const running = await submit();
    const carried = await finished(['passed', 'errored/infra/NODE_LOST', 'failed']);
    await api.send('POST', `/scorecards/${carried}/retry?class=infra`);
    await api.send('PUT', '/baselines/kept', { scorecard: pinned });
    for (const id of [old, pinned, carried]) await age(id, 31);
    await age(fresh, 29);
    await sql(`UPDATE scorecards SET created_at = now() - interval '60 days' WHERE id = $1`, running);
    await api.send('PUT', '/retention', { resultsDays: 30, logsDays: null });
    expect(await retention.deleteOld(HOUR_SEC)).toBe(1);
    expect(await retention.deleteOld(HOUR_SEC)).toBe(0);
    expect((await api.send('GET', `/scorecards/${old}`)).body.detail).toContain('deleted by retention');
    for (const id of [fresh, pinned, running, carried])
      expect((await api.send('GET', `/scorecards/${id}`)).status).toBe(200);
    expect((await read(`/audit?object=${old}`)).items[0]).toMatchObject({
      action: 'scorecards.delete',
      subject: 'retention',
    });

    // What is brought back is not deleted again by the next sweep.
    await api.send('POST', `/scorecards/${old}/restore`);
    expect(await retention.deleteOld(HOUR_SEC)).toBe(0);
    expect((await api.send('GET', `/scorecards/${old}`)).status).toBe(200);
  });

  test('deletes logs sooner than results, and a run then says so', async () => {
    const id = await finished();
    await logOf(id, 'secretive');
    await age(id, 8);
    await api.send('PUT', '/retention', { resultsDays: 30, logsDays: 7 });
    expect(await retention.hideOldLogs()).toBeGreaterThan(0);
    for (const path of [`/runs/${id}.0/logs`, `/runs/${id}.0/logs?follow=true`]) {
      const { status, body } = await api.send('GET', path);
      expect([status, body.detail]).toEqual([404, expect.stringContaining('deleted by the retention')]);
    }
    await purgeAll();
    expect(await rowsOf(id)).toEqual({ scorecards: 1, runs: 3, attempts: 3, chunks: 0 });
    expect((await read(`/runs/${id}.0/attempts`)).items).toHaveLength(1);
    expect(await retention.hideOldLogs()).toBe(0);
  });
});

test('a purge that is killed at any statement goes on, and takes nothing but what was deleted', async () => {
  const { dataSource } = api.database;
  const [id, kept] = [await submit({ trials: 700 }), await finished()];
  await sql(`UPDATE runs SET outcome = 'passed', settled_at = now(), settled_attempt = 1 WHERE scorecard_id = $1`, id);
  await sql(
    `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, closed_at)
     SELECT id, 1, pool_id, id, 1000000 + ordinal, id, 'n', now() FROM runs WHERE scorecard_id = $1`,
    id,
  );
  await sql(
    `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes)
     SELECT id, 1, 'stdout', 0, 'x' FROM runs WHERE scorecard_id = $1 AND ordinal < 1200`,
    id,
  );
  await sql('UPDATE scorecards SET finished_at = now() WHERE id = $1', id);
  await logOf(kept);
  const before = await rowsOf(kept);
  await api.send('DELETE', `/scorecards/${id}`);
  await expire(id);
  const { createQueryRunner } = dataSource;
  const statements = fc.sample(fc.integer({ min: 1, max: 7 }), { numRuns: 40, seed: 9 });
  for (const fatal of statements) {
    dataSource.createQueryRunner = () => {
      const runner = createQueryRunner.call(dataSource);
      const { query } = runner;
      let asked = 0;
      runner.query = (...args: Parameters<typeof query>) => {
        asked += 1;
        return asked === fatal ? Promise.reject(new Error('killed')) : query.apply(runner, args);
      };
      return runner;
    };
    await new RetentionStore(dataSource).purge().catch(() => false);
    dataSource.createQueryRunner = createQueryRunner;
    await new RetentionStore(dataSource).purge();
    expect((await api.send('GET', `/scorecards/${id}`)).status).toBe(404);
    const left = await rowsOf(id);
    expect(left.attempts).toBe(left.runs);
    expect(await rowsOf(kept)).toEqual(before);
    if (left.scorecards === 0) break;
  }
  await purgeAll();
  expect(await rowsOf(id)).toEqual(NOTHING);
});
