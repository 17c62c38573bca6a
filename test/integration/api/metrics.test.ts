import { parseScrape, type Scrape, sample } from '../../prometheus.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeEach(async () => {
  api = await startApi();
  await registerWorld(api);
}, 60_000);
afterEach(() => api.close());

async function scrape(): Promise<Scrape> {
  const { status, headers, body } = await api.send('GET', '/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  return parseScrape(body);
}

const sql = (text: string) => api.database.dataSource.query(text);

async function submit(): Promise<string> {
  const { body } = await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' });
  return body.id;
}

const POOL = { workspace: 'default', runtime: 'here' };

test('states, limits and the outbox are those of the database', async () => {
  const id = await submit();
  await sql(`UPDATE runs SET outcome = 'errored', error_class = 'infra', error_code = 'NODE_LOST', settled_at = now()
             WHERE id = '${id}.0'`);
  await sql(`UPDATE runs SET asked_at = now() - interval '90 seconds' WHERE id = '${id}.1'`);
  await sql(`UPDATE scorecards SET created_at = now() - interval '30 seconds', started_at = NULL`);

  const read = await scrape();
  const runs = (state: string, outcome = '', error_class = '') =>
    sample(read, 'everdict_runs', { state, outcome, error_class });
  expect([runs('queued'), runs('waiting'), runs('running')]).toEqual([1, 1, 0]);
  expect([runs('settled', 'errored', 'infra'), runs('settled', 'errored', 'agent'), runs('settled', 'passed')]).toEqual(
    [1, 0, 0],
  );
  expect(sample(read, 'everdict_admission_waiting_runs', POOL)).toBe(1);
  expect(sample(read, 'everdict_admission_oldest_wait_seconds', POOL)).toBeCloseTo(90, -1);
  expect(sample(read, 'everdict_admission_slots_limit', POOL)).toBe(4);
  expect(sample(read, 'everdict_admission_memory_limit_bytes', POOL)).toBe(1_000 * 1_024 * 1_024);
  expect(sample(read, 'everdict_admission_cpu_limit_cores', POOL)).toBeUndefined();
  expect(sample(read, 'everdict_outbox_entries', { kind: 'scorecard' })).toBe(1);
  expect(sample(read, 'everdict_outbox_age_seconds', { kind: 'scorecard' })).toBeCloseTo(30, -1);
});

/** A live attempt of a run, opened two minutes ago, by SQL alone. */
const attemptOf = (run: string, columns = '', values = '') =>
  sql(`INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at${columns})
       SELECT id, 1, pool_id, 'case:' || id, 7, id, 'cafe', now() - interval '2 minutes'${values} FROM runs WHERE id = '${run}'`);

test.each<[string, (id: string) => Promise<unknown>, number]>([
  [
    'envelope_exceeded',
    async (id) => {
      await attemptOf(`${id}.0`, ', memory_mb', ', 2000');
      await sql(`UPDATE pools SET limits_at = now() - interval '1 hour'`);
    },
    1,
  ],
  [
    'settled_run_with_live_attempt',
    async (id) => {
      await attemptOf(`${id}.0`);
      await sql(`UPDATE runs SET outcome = 'passed', settled_at = now() - interval '16 minutes' WHERE id = '${id}.0'`);
    },
    1,
  ],
  ['open_run_without_attempt', (id) => sql(`UPDATE runs SET open_attempt = 3 WHERE scorecard_id = '${id}'`), 3],
  ['scorecard_counts_differ', (id) => sql(`UPDATE scorecards SET total = 4 WHERE id = '${id}'`), 1],
  ['attempt_without_lease', (id) => attemptOf(`${id}.0`), 1],
])('%s is counted, and nothing else is', async (invariant, corrupt, count) => {
  await corrupt(await submit());
  const { values } = await scrape();
  const violated = [...values].filter(
    ([series, value]) => series.startsWith('everdict_invariant_violations') && value > 0,
  );
  expect(
    violated.filter(([series]) => !series.includes('attempt_without_lease') || invariant === 'attempt_without_lease'),
  ).toEqual([[`everdict_invariant_violations{invariant="${invariant}"}`, count]]);
});

test('a lowered limit is no violation while what was granted before it is still there', async () => {
  const id = await submit();
  await attemptOf(`${id}.0`, ', memory_mb', ', 2000');
  await sql(`UPDATE pools SET limits_at = now() - interval '1 minute'`);
  expect(sample(await scrape(), 'everdict_invariant_violations', { invariant: 'envelope_exceeded' })).toBe(0);
});

test('what cannot be read is counted, and the rest is still told', async () => {
  await submit();
  await sql('ALTER TABLE attempts RENAME TO elsewhere');
  const read = await scrape();
  expect(sample(read, 'everdict_scrape_errors_total', { source: 'admission' })).toBe(1);
  expect(sample(read, 'everdict_scrape_errors_total', { source: 'runs' })).toBe(0);
  expect(sample(read, 'everdict_runs', { state: 'queued', outcome: '', error_class: '' })).toBe(3);
  await sql('ALTER TABLE elsewhere RENAME TO attempts');
});

test('requests are told by the template of their route', async () => {
  await api.send('GET', '/scorecards/one');
  await api.send('GET', '/scorecards/two');
  await api.send('GET', '/no/such/place');
  const read = await scrape();
  const count = (route: string, status: string) =>
    sample(read, 'everdict_http_request_duration_seconds_count', { method: 'GET', route, status });
  expect([count('/scorecards/:id', '404'), count('none', '404')]).toEqual([2, 1]);
  expect([...read.values.keys()].filter((series) => /scorecards\/one|no\/such/.test(series))).toEqual([]);
});

test('only the busiest runtimes have series of their own, and the others are one sum', async () => {
  await sql(`INSERT INTO pools (id, workspace_id, runtime_id, kind, slots)
             SELECT 'rt:default:r' || n, 'default', 'r' || n, 'local', 2 FROM generate_series(1, 120) n`);
  await submit();
  await sql(`UPDATE runs SET asked_at = now()`);
  const read = await scrape();
  const series = [...read.values.keys()].filter((name) => name.startsWith('everdict_admission_slots_limit'));
  expect(series).toHaveLength(101);
  expect(sample(read, 'everdict_admission_waiting_runs', POOL)).toBe(3);
  expect(sample(read, 'everdict_admission_slots_limit', { workspace: '_others', runtime: '_others' })).toBe(21 * 2);
});

test('the audit names leases and attempts that lack each other', async () => {
  const id = await submit();
  await attemptOf(`${id}.0`, ', cpu_millicores', ', 500');
  const demand = { memoryMb: 300 };
  api.leases.push({ holder: `case:${id}.1`, seq: 9, grantedAt: Date.now() - 120_000, demand });
  expect((await api.send('GET', '/admission/audit')).body).toEqual({
    drift: 2,
    pools: [
      {
        pool: 'rt:default:here',
        drift: 2,
        leases: 1,
        inUse: {
          ledger: { slots: 1, memoryMb: 300, cpuMillicores: 0 },
          attempts: { slots: 1, memoryMb: 0, cpuMillicores: 500 },
        },
        leasesWithoutAttempt: [{ runId: `${id}.1`, seq: 9, grantedAt: expect.any(Number) }],
        attemptsWithoutLease: [{ runId: `${id}.0`, attempt: 1, seq: 7 }],
      },
    ],
    unread: [],
    skipped: 0,
  });
  expect(sample(await scrape(), 'everdict_admission_drift')).toBe(2);
});
