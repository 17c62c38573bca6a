import { RuntimeStore } from '../../../store/runtime.store.js';
import { aRuntime, MEMBER } from '../../builders.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

const wanted = { dataset: 'tasks', harness: 'echo', runtime: 'here' };

test('a local runtime that is registered already is refused where the operator no longer allows it', async () => {
  const closed = await startApi({ env: { EVERDICT_ALLOW_LOCAL_RUNTIMES: '0' } });
  try {
    await closed.send('POST', '/datasets', { id: 'tasks', version: '1', cases: [{ id: 'a', task: 'x' }] });
    await closed.send('POST', '/harnesses', { kind: 'command', id: 'echo', version: '1', command: 'x' });
    await new RuntimeStore(closed.database.dataSource).insert('default', aRuntime(), { slots: 1 }, MEMBER);
    const { status, body } = await closed.send('POST', '/scorecards', wanted);
    expect([status, body.code]).toEqual([400, 'BAD_SPEC']);
    expect(body.detail).toContain('EVERDICT_ALLOW_LOCAL_RUNTIMES=1');
  } finally {
    await closed.close();
  }
});

describe('an Idempotency-Key', () => {
  const submit = (key: string, change: object = {}, path = '/scorecards') =>
    api.send('POST', path, { ...wanted, ...change }, { 'idempotency-key': key });

  test('makes one scorecard of two submits, also at the same time and with its keys in another order', async () => {
    const [a, b] = await Promise.all([submit('k1'), submit('k1')]);
    const reordered = await api.send('POST', '/scorecards', Object.fromEntries(Object.entries(wanted).reverse()), {
      'idempotency-key': 'k1',
    });
    expect([a.status, b.status, reordered.status]).toEqual([202, 202, 202]);
    expect(new Set([a.body.id, b.body.id, reordered.body.id]).size).toBe(1);
    expect(api.calls.filter(({ workflowId }) => workflowId === `scorecard:${a.body.id}`)).toHaveLength(1);
  });

  test('with another body is a 409 that names what the first made', async () => {
    const first = await submit('k2');
    const { status, body } = await submit('k2', { trials: 2 });
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(body.detail).toContain(first.body.id);
  });

  test('of two different bodies at the same time makes one and refuses the other', async () => {
    const replies = await Promise.all([submit('k3'), submit('k3', { trials: 2 })]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202, 409]));
  });

  test('belongs to its route', async () => {
    const scorecard = await submit('k4');
    const run = await api.send('POST', '/runs', { ...wanted, caseId: 'case-1' }, { 'idempotency-key': 'k4' });
    expect([scorecard.status, run.status]).toEqual([202, 202]);
  });

  test('is not used up by a submit that was refused', async () => {
    expect((await submit('k5', { runtime: 'none' })).status).toBe(404);
    expect((await submit('k5')).status).toBe(202);
  });

  test.each(['', 'a b', 'x'.repeat(256)])('that is %j is refused', async (key) => {
    const { status, body } = await submit(key);
    expect([status, body.errors[0].path]).toEqual([400, 'Idempotency-Key']);
  });
});

describe('without Temporal', () => {
  test('a submit is still a 202, and stays for the workers to start', async () => {
    const alone = await startApi({ temporal: '127.0.0.1:1' });
    try {
      await registerWorld(alone);
      const { status, body } = await alone.send('POST', '/scorecards', wanted);
      expect(status).toBe(202);
      const [row] = await alone.database.dataSource.query('SELECT started_at FROM scorecards WHERE id = $1', [body.id]);
      expect(row.started_at).toBeNull();
      const ready = await alone.send('GET', '/readyz');
      expect([ready.status, ready.body.code, ready.body.detail]).toEqual([503, 'NOT_READY', 'not ready: temporal']);
      expect(ready.body.errors.map(({ path }: { path: string }) => path)).toEqual(['temporal']);
    } finally {
      await alone.close();
    }
  });
});
