import { type Api, registerWorld, startApi } from './server.js';

const OPERATOR = { authorization: 'Bearer operator-key-0123456789-0123456789' };
let api: Api;
let admin: Record<string, string>;

beforeAll(async () => {
  api = await startApi({
    env: { EVERDICT_OPERATOR_KEY: OPERATOR.authorization.slice('Bearer '.length), EVERDICT_REQUESTS_PER_SEC: '0' },
  });
  const made = await api.send('POST', '/keys', { name: 'ada', role: 'admin' }, inDefault);
  admin = { authorization: `Bearer ${made.body.value}` };
  await registerWorld({ ...api, send: (method, path, body) => api.send(method, path, body, admin) });
  const shared = { kind: 'local', id: 'farm', version: '1', maxConcurrent: 2 };
  await api.send('POST', '/runtimes', shared, { ...OPERATOR, 'x-everdict-workspace': '_shared' });
}, 60_000);
afterAll(() => api.close());

const inDefault = { ...OPERATOR, 'x-everdict-workspace': 'default' };
const dial = (body: unknown, id = 'here') => api.send('PATCH', `/runtimes/${id}/admission`, body, admin);
const submit = () => api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' }, admin);

/** Versions that admission workflows were told of since the last look. */
function told(): Record<string, unknown> {
  const signals = api.calls.splice(0).filter(({ verb }) => verb === 'signal');
  return Object.fromEntries(signals.map(({ workflowId, argument }) => [workflowId, argument]));
}
const versionOf = async (pool: string): Promise<number> =>
  (await api.database.dataSource.query('SELECT envelope_version::int AS v FROM pools WHERE id = $1', [pool]))[0].v;

describe('the dial of a runtime', () => {
  afterEach(() => dial({ mode: 'open' }));

  test('is set for a while with a reason, tells the ledger, and is taken back', async () => {
    told();
    const set = await dial({ limits: { slots: 2, memoryMb: 100 }, forSec: 60, reason: 'new disks' });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({
      ...{ runtime: 'here', owner: 'default', mode: 'open', reason: 'new disks', by: expect.stringMatching(/^key:/) },
      limits: { slots: 2, memoryMb: 100, cpuMillicores: null },
      envelope: { slots: 4, memoryMb: 1_000, cpuMillicores: null },
      inForce: { slots: 2, memoryMb: 100, cpuMillicores: null },
    });
    expect(set.body.until).toBeNull();
    expect(Date.parse(set.body.limitsUntil) - Date.now()).toBeGreaterThan(50_000);
    expect(told()).toEqual({ 'admission:default:here': await versionOf('rt:default:here') });
    const open = await dial({ mode: 'open' });
    expect(open.body).toMatchObject({ mode: 'open', until: null, reason: null, by: null, inForce: { slots: 4 } });
  });

  test('that is over counts for nothing', async () => {
    await dial({ mode: 'draining', forSec: 60 });
    await api.database.dataSource.query(`UPDATE pools SET dial_until = now() - interval '1 second'`);
    expect((await submit()).status).toBe(202);
    expect((await dial({ limits: { slots: 1 } })).body).toMatchObject({ mode: 'open', limits: { slots: 1 } });
  });

  const past = '2020-01-01T00:00:00Z';
  test.each<[string, unknown, string, string]>([
    ['a negative limit', { limits: { slots: -1 } }, 'limits.slots', 'is below 1 slot'],
    ['no slot at all', { limits: { slots: 0 } }, 'limits.slots', 'to grant nothing, set `mode` to paused'],
    ['a fraction', { limits: { slots: 1.5 } }, 'limits.slots', 'whole number'],
    ['an enormous limit', { limits: { memoryMb: 1e12 } }, 'limits.memoryMb', 'more than the allowed 1000000000'],
    ['more slots than it has', { limits: { slots: 9 } }, 'limits.slots', 'is 9, and runtime here has 4 slots'],
    [
      'more memory than it has',
      { limits: { memoryMb: 2_000 } },
      'limits.memoryMb',
      'is 2000, and runtime here has 1000',
    ],
    ['an end that is over', { mode: 'paused', until: past }, 'until', 'is over already'],
    ['no time', { mode: 'paused', until: 'tomorrow' }, 'until', 'is not a time'],
    ['a second of 0', { mode: 'paused', forSec: 0 }, 'forSec', 'less than the required 1'],
    ['two ends', { mode: 'paused', forSec: 9, until: '2099-01-01T00:00:00Z' }, 'forSec', 'says the same as `until`'],
    ['another mode', { mode: 'pause' }, 'mode', 'did you mean `paused`?'],
    ['another field', { mode: 'paused', slots: 1 }, 'slots', 'is not a known key'],
    ['nothing', {}, '', 'changes nothing'],
    ['an end of nothing', { forSec: 5 }, 'mode', 'nothing is set for runtime here'],
  ])('is refused with %s, and nothing of it is stored', async (_title, body, path, message) => {
    const before = await versionOf('rt:default:here');
    const reply = await dial(body);
    expect([reply.status, reply.body.errors]).toEqual([
      400,
      expect.arrayContaining([{ path, message: expect.stringContaining(message) }]),
    ]);
    expect(await versionOf('rt:default:here')).toBe(before);
  });

  test('of what is not there names what is', async () => {
    const reply = await dial({ mode: 'paused' }, 'hera');
    expect([reply.status, reply.body.detail]).toEqual([404, 'there is no runtime hera; did you mean here?']);
  });

  test('of a shared runtime is the operator’s', async () => {
    expect(await dial({ mode: 'paused' }, 'farm')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    const reply = await api.send('PATCH', '/runtimes/farm/admission', { mode: 'paused' }, inDefault);
    expect([reply.status, reply.body.owner]).toEqual([200, '_shared']);
  });

  test('that drains refuses new work and says until when and why; one that pauses takes it', async () => {
    await dial({ mode: 'draining', forSec: 600, reason: 'it moves' });
    const refused = await submit();
    expect([refused.status, refused.body.code, refused.body.errors[0].path]).toEqual([
      409,
      'RUNTIME_DRAINING',
      'runtime',
    ]);
    expect(refused.body.detail).toMatch(/^runtime here takes no new work until 20.*: it moves$/);
    await dial({ mode: 'paused' });
    expect((await submit()).status).toBe(202);
  });
});

describe('weight and quota of a workspace', () => {
  const change = (body: unknown, id = 'default') => api.send('PATCH', `/workspaces/${id}`, body, OPERATOR);

  test('are set by the operator, and told to its own pools and the shared ones', async () => {
    told();
    const set = await change({ weight: 2.5, maxRunning: 3 });
    expect([set.status, set.body]).toEqual([200, { id: 'default', weight: 2.5, maxRunning: 3, running: 0 }]);
    expect(told()).toEqual({
      'admission:default:here': await versionOf('rt:default:here'),
      'admission:_shared:farm': await versionOf('rt:_shared:farm'),
    });
    expect((await change({ maxRunning: null })).body).toMatchObject({ weight: 2.5, maxRunning: null });
    expect((await api.send('GET', '/workspaces/default', undefined, OPERATOR)).body.weight).toBe(2.5);
  });

  test.each<[string, unknown, string, string]>([
    ['no weight', { weight: 0 }, 'weight', 'less than the required 0.01'],
    ['a negative weight', { weight: -1 }, 'weight', 'less than the required 0.01'],
    ['an enormous weight', { weight: 1e6 }, 'weight', 'more than the allowed 1000'],
    ['a quota of nothing', { maxRunning: 0 }, 'maxRunning', 'less than the required 1'],
    ['half a run', { maxRunning: 0.5 }, 'maxRunning', 'whole number'],
    ['an enormous quota', { maxRunning: 1e12 }, 'maxRunning', 'more than the allowed 1000000'],
    ['words', { weight: 'heavy' }, 'weight', 'expected number'],
    ['nothing', {}, '', 'changes nothing'],
    ['another name', { quota: 3 }, 'quota', 'is not a known key'],
  ])('are refused with %s', async (_title, body, path, message) => {
    const reply = await change(body);
    const faults = expect.arrayContaining([{ path, message: expect.stringContaining(message) }]);
    expect([reply.status, reply.body.errors]).toEqual([400, faults]);
  });

  test.each(['nobody', '_shared'])('of %s are not there to be set', async (id) => {
    const reply = await change({ maxRunning: 3 }, id);
    expect([reply.status, reply.body.detail]).toEqual([404, expect.stringContaining(id)]);
  });
});
