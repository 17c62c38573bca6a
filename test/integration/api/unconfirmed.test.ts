import type { Role } from '../../../contracts/identity.js';
import { KeyStore } from '../../../store/key.store.js';
import { WorkspaceStore } from '../../../store/workspace.store.js';
import { type Api, startApi } from './server.js';

const OPERATOR = 'operator-key-0123456789-0123456789';
let api: Api;
beforeAll(async () => {
  api = await startApi({ env: { EVERDICT_OPERATOR_KEY: OPERATOR, EVERDICT_REQUESTS_PER_SEC: '0' } });
  const keys = new KeyStore(api.database.dataSource);
  for (const workspace of ['acme', 'beta']) await new WorkspaceStore(api.database.dataSource).create(workspace);
  for (const role of ['viewer', 'member', 'admin', 'ci'] as const) {
    await keys.create('acme', { name: role, role, scope: 'admin', createdBy: 'operator' }, keyOf(role));
  }
  await keys.create('beta', { name: 'b', role: 'member', scope: 'write', createdBy: 'operator' }, keyOf('beta'));
  await as('member', 'POST', '/datasets', { id: 'tasks', version: '1.0.0', cases: [{ id: 'a', task: 'x' }] });
  await as('member', 'POST', '/harnesses', harness('1.0.0'));
}, 60_000);
afterAll(() => api.close());

const keyOf = (who: string): string => `ak_${who.padEnd(43, 'x')}`;

const as = (who: Role | 'beta', method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { authorization: `Bearer ${keyOf(who)}` });

const operator = (method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { authorization: `Bearer ${OPERATOR}`, 'x-everdict-workspace': '_shared' });

const harness = (version: string, parts: object = {}) => ({
  kind: 'command',
  id: 'echo',
  version,
  command: 'true',
  ...parts,
});
const runtime = (version: string, maxConcurrent: number, id = 'prod') => ({
  kind: 'local',
  id,
  version,
  maxConcurrent,
});
const wanted = { dataset: 'tasks', harness: 'echo', runtime: 'prod' };

const poolOf = async (id: string) => {
  const [pool] = await api.database.dataSource.query(
    'SELECT slots, envelope_version::int AS version FROM pools WHERE id = $1',
    [`rt:acme:${id}`],
  );
  return pool;
};

test('a higher version that a viewer registers changes nothing for members, until one of them confirms it', async () => {
  await as('member', 'POST', '/runtimes', runtime('1.0.0', 4));
  const before = { pool: await poolOf('prod'), calls: api.calls.length };
  const registered = await as('viewer', 'POST', '/runtimes', runtime('2.0.0', 99));
  expect([registered.status, registered.headers.get('x-everdict-warning')]).toEqual([
    201,
    'runtime prod@2.0.0 is unconfirmed: nothing uses it until a member confirms it or names it with its version',
  ]);

  expect((await as('member', 'GET', '/runtimes/prod/versions/latest')).body.version).toBe('1.0.0');
  expect((await as('viewer', 'GET', '/runtimes/prod/versions/2.0.0')).body.maxConcurrent).toBe(99);
  expect({ pool: await poolOf('prod'), calls: api.calls.length }).toEqual(before);
  const submitted = await as('member', 'POST', '/scorecards', wanted);
  expect(submitted.body.warnings).toEqual([]);
  expect((await as('member', 'GET', submitted.body.links.self)).body.runtime).toBe('prod@1.0.0');
  expect((await as('viewer', 'POST', '/runtimes/prod/versions/2.0.0/confirm')).status).toBe(403);

  const { body } = await as('viewer', 'GET', '/runtimes?id=prod');
  expect(body.items).toMatchObject([
    { version: '1.0.0', latest: true, confirmed: true },
    { version: '2.0.0', latest: false, confirmed: false, confirmedBy: null },
  ]);

  const confirmed = await as('member', 'POST', '/runtimes/prod/versions/2.0.0/confirm');
  expect(confirmed.body).toMatchObject({ latest: true, confirmed: true });
  expect(confirmed.body.confirmedBy).not.toBe(confirmed.body.registeredBy);
  expect(await poolOf('prod')).toEqual({ slots: 99, version: 2 });
  expect(api.calls.at(-1)).toEqual({ verb: 'signal', workflowId: 'admission:acme:prod', argument: 2 });
});

test('naming them with their version confirms a runtime and a harness with the submit, or not at all', async () => {
  await as('viewer', 'POST', '/runtimes', runtime('1.0.0', 3, 'named'));
  await as('viewer', 'POST', '/harnesses', harness('2.0.0'));
  const none = await as('member', 'POST', '/scorecards', { ...wanted, runtime: 'named' });
  expect([none.status, none.body.detail]).toEqual([
    404,
    'no version of runtime named is confirmed yet: confirm 1.0.0, or name it with its version',
  ]);

  const explicit = { ...wanted, runtime: 'named@1.0.0', harness: 'echo@2.0.0' };
  const refused = await as('member', 'POST', '/scorecards', { ...explicit, cases: { ids: ['none'] } });
  expect([refused.status, await poolOf('named')]).toEqual([404, undefined]);
  expect((await as('viewer', 'POST', '/scorecards', explicit)).status).toBe(403);

  const ofCi = await as('ci', 'POST', '/scorecards', explicit);
  expect([ofCi.status, ofCi.body.detail]).toEqual([
    403,
    'nobody confirmed harness echo@2.0.0 and runtime named@1.0.0 yet: a member must confirm it before others use it',
  ]);
  expect(await poolOf('named')).toBeUndefined();

  const { status, body } = await as('member', 'POST', '/scorecards', explicit);
  expect([status, body.warnings]).toEqual([
    202,
    [
      'harness echo@2.0.0 was unconfirmed, and is confirmed by this submit',
      'runtime named@1.0.0 was unconfirmed, and is confirmed by this submit',
    ],
  ]);
  expect(await poolOf('named')).toEqual({ slots: 3, version: 1 });
  const { items } = (await as('viewer', 'GET', '/harnesses?id=echo')).body;
  expect(items[1]).toMatchObject({ version: '2.0.0', confirmed: true, latest: true });
  expect(items[1].confirmedAt).toMatch(/^\d{4}-/);
});

test('the target of a case in a dataset does not confirm what it names', async () => {
  await as('viewer', 'POST', '/runtimes', runtime('1.0.0', 3, 'lure'));
  const cases = [{ id: 'a', task: 'x', placement: { target: 'lure@1.0.0' } }];
  await as('member', 'POST', '/datasets', { id: 'baited', version: '1', cases });
  const { status, body } = await as('member', 'POST', '/scorecards', { dataset: 'baited', harness: 'echo' });
  expect([status, body.detail]).toEqual([409, expect.stringContaining('lure@1.0.0')]);
  expect(await poolOf('lure')).toBeUndefined();
});

test('a viewer keeps no name from a member, however many try at once', async () => {
  const squat = (i: number) => as('viewer', 'POST', '/runtimes', runtime('1.0.0', 10 + i, 'squat'));
  await squat(0);
  const replies = await Promise.all([
    ...Array.from({ length: 20 }, (_, i) => squat(i)),
    ...Array.from({ length: 20 }, () => as('member', 'POST', '/runtimes', runtime('1.0.0', 2, 'squat'))),
  ]);
  expect(replies.filter(({ status }) => ![200, 201, 409].includes(status))).toEqual([]);
  const ofMembers = replies.slice(20).map(({ status }) => status);
  expect(ofMembers.sort((a, b) => a - b)).toEqual([...Array(19).fill(200), 201]);
  expect((await as('viewer', 'GET', '/runtimes/squat/versions/latest')).body.maxConcurrent).toBe(2);
  expect(await poolOf('squat')).toEqual({ slots: 2, version: 1 });
});

test('A03: every role lists and registers runtimes; the ones of another workspace are not found', async () => {
  for (const role of ['viewer', 'member', 'admin'] as const) {
    expect((await as(role, 'GET', '/runtimes')).status).toBe(200);
    expect((await as(role, 'POST', '/runtimes', runtime('1.0.0', 1, `of-${role}`))).status).toBe(201);
  }
  expect((await as('beta', 'GET', '/runtimes/prod/versions/1.0.0')).status).toBe(404);
  expect((await as('beta', 'PUT', '/runtimes/prod/versions/1.0.0/tags', { tags: [] })).status).toBe(404);
  expect((await as('beta', 'GET', '/runtimes')).body.items).toEqual([]);
});

test('the operator shares a version with every workspace, and alone says something of it', async () => {
  expect((await operator('POST', '/runtimes', runtime('1.0.0', 5, 'farm'))).status).toBe(201);
  expect((await as('beta', 'GET', '/runtimes')).body.items).toMatchObject([
    { id: 'farm', owner: '_shared', confirmed: true },
  ]);
  expect((await as('admin', 'POST', '/runtimes/farm/versions/1.0.0/deprecate')).status).toBe(404);
  await as('viewer', 'POST', '/runtimes', runtime('9.0.0', 1, 'farm'));
  expect((await as('member', 'GET', '/runtimes/farm/versions/latest')).body.version).toBe('1.0.0');
  expect((await operator('POST', '/runtimes/farm/versions/1.0.0/deprecate', { reason: 'moved' })).status).toBe(200);
  expect((await as('beta', 'GET', '/runtimes/farm/versions/latest')).status).toBe(404);
});
