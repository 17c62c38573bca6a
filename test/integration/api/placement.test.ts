import { RuntimeStore } from '../../../store/runtime.store.js';
import { aRuntime, MEMBER, VIEWER } from '../../builders.js';
import { type Api, registerWorld, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  // `here`: 4 slots, 1,000 MB.
  await registerWorld(api, { size: 6 });
  const runtimes: object[] = [
    { kind: 'local', id: 'wide', version: '1', maxConcurrent: 9, memoryBudgetMb: 100, capabilities: ['browser'] },
    { kind: 'local', id: 'wide', version: '2', maxConcurrent: 10, memoryBudgetMb: 100, capabilities: ['browser'] },
    { kind: 'local', id: 'huge', version: '1', maxConcurrent: 1_000, capabilities: ['browser'] },
    { kind: 'local', id: 'gone', version: '1', maxConcurrent: 1_000 },
  ];
  for (const runtime of runtimes) await sent('POST', '/runtimes', runtime, 201);
  await sent('PATCH', '/runtimes/huge/admission', { mode: 'draining' }, 200);
  await sent('POST', '/runtimes/gone/versions/1/deprecate', {}, 200);
  const store = new RuntimeStore(api.database.dataSource);
  const unconfirmed = aRuntime({ id: 'new', version: '1', maxConcurrent: 1_000 });
  await store.insert('default', unconfirmed, { slots: 1_000 }, VIEWER);
  await api.database.dataSource.query("INSERT INTO workspaces (id) VALUES ('other')");
  const farm = aRuntime({ id: 'farm', version: '1', maxConcurrent: 2, capabilities: ['computer-use'] });
  await store.insert('_shared', farm, { slots: 2, memoryMb: 1 }, MEMBER);
  await store.insert('other', aRuntime({ id: 'theirs', maxConcurrent: 1_000 }), { slots: 1_000 }, MEMBER);
  const cases = [
    { id: 'plain', task: 'x' },
    { id: 'web', task: 'x', env: { kind: 'browser' }, tags: ['web'] },
    { id: 'desktop', task: 'x', env: { kind: 'os-use' } },
    { id: 'big', task: 'x', resources: { memoryMb: 500 }, tags: ['big'] },
    { id: 'net', task: 'x', network: { mode: 'none' }, tags: ['net'] },
  ];
  await sent('POST', '/datasets', { id: 'mixed', version: '1', cases }, 201);
}, 60_000);
afterAll(() => api.close());

async function sent(method: string, path: string, body: object, status: number) {
  const reply = await api.send(method, path, body);
  if (reply.status !== status) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

const wanted = { dataset: 'mixed', harness: 'echo', runtime: 'auto' };

test.each([
  ['with most room', { cases: { ids: ['plain'] } }, 'wide@2'],
  ['that has what a case needs', { cases: { tags: ['web'] } }, 'wide@2'],
  ['that is shared, if no own one will do', { cases: { ids: ['desktop'] } }, 'farm@1'],
  ['whose envelope is large enough', { cases: { tags: ['big'] } }, 'here@1.0.0'],
])('a scorecard without a runtime of its own goes to the one %s', async (_title, change, runtime) => {
  const { status, body } = await api.send('POST', '/scorecards', { ...wanted, ...change });
  expect([status, body.runtime]).toEqual([202, runtime]);
  expect((await api.send('GET', body.links.self)).body.runtime).toBe(runtime);
  const { items } = (await api.send('GET', body.links.cases)).body;
  expect(items).toMatchObject([{ runtime }]);
  await api.send('POST', body.links.cancel);
});

test('a run likewise, and its answer names the runtime', async () => {
  const { status, body } = await api.send('POST', '/runs', { ...wanted, caseId: 'big' });
  expect([status, body.runtime]).toEqual([202, 'here@1.0.0']);
  await api.send('POST', body.links.cancel);
});

test('scorecards that come together go to different runtimes', async () => {
  const chosen: string[] = [];
  const links: string[] = [];
  for (let i = 0; i < 4; i += 1) {
    const body = await sent('POST', '/scorecards', { ...wanted, dataset: 'tasks' }, 202);
    chosen.push(body.runtime);
    links.push(body.links.cancel);
  }
  // Six cases each, of 10, 4 and 2 slots: free are 10, 4, 2; then 4, 4, 2; 4, −2, 2; and 4, −2, −4.
  expect(chosen).toEqual(['wide@2', 'here@1.0.0', 'farm@1', 'wide@2']);
  for (const link of links) await api.send('POST', link);
});

test.each([
  [
    'a need that no runtime meets',
    { cases: { tags: ['net'] } },
    ['none of 3 runtimes meets `network.mode` none (case "net": '],
  ],
  [
    'needs that no single runtime meets',
    { cases: { ids: ['web', 'big'] } },
    [
      '2 of 3 runtimes do not meet `env.kind` browser (case "web": needs capability browser; runtime farm@1 has computer-use)',
      '2 of 3 runtimes do not meet `resources.memoryMb` (case "big": declares 500; runtime farm admits 1 in all)',
    ],
  ],
])('%s is refused before anything is stored, and says how many runtimes lack it', async (_title, change, reasons) => {
  const before = await rowCounts(api);
  const { status, body } = await api.send('POST', '/scorecards', { ...wanted, ...change });
  expect([status, body.code]).toEqual([400, 'NO_RUNTIME_FITS']);
  expect(body.errors).toEqual(
    reasons.map((message) => ({ path: 'runtime', message: expect.stringContaining(message) })),
  );
  expect(await rowCounts(api)).toEqual(before);
});

test('a case that cannot work anywhere is refused as with a runtime that is named', async () => {
  const own = { id: 'x', task: 'x', graders: [{ kind: 'command', command: 'true' }] };
  await sent('POST', '/harnesses', { kind: 'process', id: 'binary', version: '1', entrypoint: ['/bin/agent'] }, 201);
  await sent('POST', '/datasets', { id: 'scripts', version: '1', cases: [own] }, 201);
  const request = { ...wanted, harness: 'binary', dataset: 'scripts' };
  const { status, body } = await api.send('POST', '/scorecards', request);
  expect([status, body.code]).toEqual([400, 'BAD_SPEC']);
  expect(body.errors).toMatchObject([{ path: 'cases.x.graders[0]' }]);
  expect((await api.send('POST', '/scorecards', { ...request, runtime: 'here' })).body.errors).toEqual(body.errors);
});

test('where there is no runtime that takes new work, it is said', async () => {
  for (const id of ['here', 'wide']) await sent('PATCH', `/runtimes/${id}/admission`, { mode: 'draining' }, 200);
  await api.database.dataSource.query("UPDATE pools SET dial_mode = 'draining' WHERE runtime_id = 'farm'");
  const { status, body } = await api.send('POST', '/runs', { ...wanted, caseId: 'plain' });
  expect([status, body.code]).toEqual([400, 'NO_RUNTIME_FITS']);
  expect(body.detail).toContain('register one');
});
