import type { ScorecardView } from '../../../contracts/scorecard.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
/** By the status that each is brought into; `old` is an earlier version of the dataset, completed. */
let ids: Record<'queued' | 'running' | 'paused' | 'cancelling' | 'cancelled' | 'completed' | 'cut' | 'old', string>;

beforeAll(async () => {
  api = await startApi();
  await registerWorld(api);
  const head = { id: 'tasks', version: '0.9.0', cases: [{ id: 'case-0', task: 'task 0' }] };
  await api.send('POST', '/datasets', head);
  await api.send('POST', '/datasets', { ...head, id: 'others' });
  const submit = async (metadata: Record<string, string>, dataset = 'tasks'): Promise<string> =>
    (await api.send('POST', '/scorecards', { dataset, harness: 'echo', runtime: 'here', metadata })).body.id;
  const main = { branch: 'main' };
  ids = {
    old: await submit(main, 'tasks@0.9.0'),
    completed: await submit({ ...main, note: 'a=b' }),
    cut: await submit(main),
    cancelled: await submit(main),
    cancelling: await submit(main),
    paused: await submit({}),
    running: await submit({ branch: 'feature' }),
    queued: await submit({}, 'others'),
  };
  const set = (id: string, columns: string) =>
    api.database.dataSource.query(`UPDATE scorecards SET ${columns} WHERE id = $1`, [id]);
  await set(ids.old, 'finished_at = now()');
  await set(ids.completed, 'finished_at = now()');
  await set(ids.cut, `finished_at = now(), stopped_early = '{}'`);
  await set(ids.cancelled, 'finished_at = now(), cancel_requested_at = now()');
  await set(ids.cancelling, 'cancel_requested_at = now(), paused_at = now()');
  await set(ids.paused, 'paused_at = now()');
  const settled = `UPDATE runs SET outcome = 'passed', settled_at = now(), settled_attempt = 1 WHERE id = $1`;
  await api.database.dataSource.query(settled, [`${ids.running}.0`]);
  await set(ids.queued, `retry_of = '${ids.old}'`);
}, 60_000);
afterAll(() => api.close());

async function listed(query: string): Promise<ScorecardView[]> {
  const { status, body } = await api.send('GET', `/scorecards?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.items;
}
const idsOf = async (query: string): Promise<string[]> => (await listed(query)).map(({ id }) => id);

describe('the list of scorecards', () => {
  test.each(['queued', 'running', 'paused', 'cancelling', 'cancelled'] as const)(
    'finds those that are %s',
    async (status) => {
      const found = await listed(`status=${status}`);
      expect(found.map((each) => [each.id, each.status])).toEqual([[ids[status], status]]);
    },
  );

  test('is narrowed down by dataset, harness, metadata, what is retried, and how it ended', async () => {
    expect(await idsOf('status=completed')).toEqual([ids.cut, ids.completed, ids.old]);
    expect(await idsOf('dataset=others&harness=echo')).toEqual([ids.queued]);
    expect(await idsOf('dataset=tasks@0.9.0')).toEqual([ids.old]);
    expect(await idsOf('dataset=tasks&status=completed&stoppedEarly=false')).toEqual([ids.completed, ids.old]);
    expect(await idsOf('stoppedEarly=true&harness=echo@1.0.0')).toEqual([ids.cut]);
    expect(await idsOf('metadata=branch=main&metadata=note=a=b')).toEqual([ids.completed]);
    expect(await idsOf('metadata=branch=feature')).toEqual([ids.running]);
    expect(await idsOf(`retryOf=${ids.old}`)).toEqual([ids.queued]);
    expect(await idsOf('harness=nobodys')).toEqual([]);
  });

  test('is paged within what is asked for', async () => {
    const first = (await api.send('GET', '/scorecards?status=completed&limit=2')).body;
    expect(first.items).toHaveLength(2);
    expect(await idsOf(`status=completed&limit=2&cursor=${first.next}`)).toEqual([ids.old]);
  });

  test.each([
    ['status=done', 'status'],
    ['metadata=branch', 'key=value'],
    ['metadata=branch=a&metadata=branch=b', 'twice'],
    ['dataset=tasks@latest', 'give the version'],
    ['retryOf=main', 'retryOf'],
    ['branch=main', 'branch'],
  ])('refuses %s', async (query, word) => {
    const { status, body } = await api.send('GET', `/scorecards?${query}`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(word)]);
  });
});

describe('a baseline', () => {
  const pin = (name: string, scorecard: string | undefined) => api.send('PUT', `/baselines/${name}`, { scorecard });

  test('is a name that points to a completed scorecard, and moves', async () => {
    expect((await pin('release', ids.old)).body).toMatchObject({ name: 'release', scorecard: ids.old });
    const moved = await pin('release', ids.completed);
    expect(moved.status).toBe(200);
    expect((await pin('release', ids.completed)).body).toEqual(moved.body);
    expect((await api.send('GET', '/baselines/release')).body).toEqual(moved.body);
    await pin('a-first', ids.old);
    const { body } = await api.send('GET', '/baselines?limit=1');
    expect(body.items).toMatchObject([{ name: 'a-first' }]);
    expect((await api.send('GET', `/baselines?cursor=${body.next}`)).body.items).toEqual([moved.body]);
    expect((await api.send('DELETE', '/baselines/a-first')).status).toBe(200);
    expect((await api.send('GET', '/baselines/a-first')).status).toBe(404);
    const { body: trail } = await api.send('GET', '/audit?object=release');
    expect(trail.items.length).toBeGreaterThanOrEqual(2);
  });

  test.each([
    ['what is not completed', 409, () => pin('next', ids.running)],
    ['what is cancelled', 409, () => pin('next', ids.cancelled)],
    ['what is not there', 404, () => pin('next', `sc_${'0'.repeat(26)}`)],
    ['a name like the id of a scorecard', 400, () => pin(ids.old, ids.old)],
    ['a name that is none', 400, () => pin('a%20b', ids.old)],
    ['no scorecard', 400, () => pin('next', undefined)],
    ['to take back what is not pinned', 404, () => api.send('DELETE', '/baselines/next')],
  ])('refuses %s', async (_what, status, call) => {
    expect((await call()).status).toBe(status);
    expect((await api.send('GET', '/baselines/next')).status).toBe(404);
  });
});
