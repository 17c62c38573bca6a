import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SharedLoader } from '../../../api/shared/shared-loader.js';
import { RuntimeStore } from '../../../store/runtime.store.js';
import { aRuntime, MEMBER } from '../../builders.js';
import { type Api, rowCounts, startApi } from './server.js';

let api: Api;
let dir: string;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-shared-'));
  for (const folder of ['runtimes', 'harnesses', 'datasets']) await mkdir(path.join(dir, folder));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const write = (name: string, content: unknown) =>
  writeFile(path.join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
const load = () => api.app.get(SharedLoader).load(dir);

const farm = { kind: 'local', id: 'farm', version: '1.0.0', maxConcurrent: 3 };
const solver = { kind: 'command', id: 'common', version: '1.0.0', command: 'true' };

async function writeAll(): Promise<void> {
  await write('runtimes/farm.json', farm);
  await write('harnesses/common.json', solver);
  await write('datasets/small.json', { id: 'small', version: '1', cases: [{ id: 'a', task: 'x' }] });
  await write('datasets/lines@1.0.0.jsonl', '{"id":"a","task":"x"}\n{"id":"b","task":"y"}\n');
}

test('what the directory holds is registered once, however many processes start at a time, and every workspace uses it', async () => {
  await writeAll();
  const fresh = await Promise.all(Array.from({ length: 8 }, load));
  expect(new Set(fresh.flatMap((each) => each.fresh)).size).toBe(4);
  expect(await load()).toEqual({ fresh: [], warnings: [] });

  const counts = await rowCounts(api);
  expect([counts.runtimes, counts.harnesses, counts.datasets, counts.dataset_cases]).toEqual([1, 1, 2, 3]);
  const { body } = await api.send('GET', '/runtimes');
  expect(body.items).toMatchObject([{ id: 'farm', owner: '_shared', registeredBy: 'operator', latest: true }]);
  const wanted = { dataset: 'lines', harness: 'common', runtime: 'farm' };
  expect((await api.send('POST', '/scorecards', wanted)).status).toBe(202);
  const [run] = await api.database.dataSource.query('SELECT pool_id, workspace_id FROM runs LIMIT 1');
  expect(run).toEqual({ pool_id: 'rt:_shared:farm', workspace_id: 'default' });
  expect((await api.send('PUT', '/runtimes/farm/versions/1.0.0/tags', { tags: [] })).status).toBe(404);
});

test.each<[string, string, unknown, string]>([
  [
    'a field that is wrong',
    'runtimes/bad.json',
    { ...farm, id: 'bad', slots: 3 },
    'runtimes/bad.json: the runtime is not valid: slots',
  ],
  ['no JSON', 'harnesses/bad.json', '{"id": ', 'harnesses/bad.json: it is not JSON'],
  [
    'a line that is wrong',
    'datasets/bad@1.jsonl',
    '{"id":"a","task":"x"}\n{"id":"a","task":"y"}\n',
    'line 2: id: repeats the id of line 1',
  ],
  [
    'other content of a registered version',
    'harnesses/common.json',
    { ...solver, command: 'false' },
    'harnesses/common.json: harness common@1.0.0 is registered with other content',
  ],
  [
    'the same version twice',
    'runtimes/twin.json',
    farm,
    'runtimes/twin.json: runtime farm@1.0.0 is in runtimes/farm.json, too',
  ],
  ['another file', 'runtimes/notes.yaml', 'kind: local', 'runtimes/notes.yaml: is neither'],
])('with %s nothing is registered, and the file is named', async (_title, name, content, message) => {
  await writeAll();
  await load();
  await write('runtimes/new.json', { ...farm, id: 'new' });
  await write(name, content);
  const before = await rowCounts(api);
  await expect(load()).rejects.toThrow(message);
  expect(await rowCounts(api)).toEqual(before);
});

test('what is registered already is no reason not to start, whatever the operator allows now', async () => {
  await write('runtimes/farm.json', farm);
  const closed = await startApi({ env: { EVERDICT_ALLOW_LOCAL_RUNTIMES: '0' } });
  try {
    const spec = aRuntime({ ...farm, capabilities: [] });
    await new RuntimeStore(closed.database.dataSource).insert('_shared', spec, { slots: 3 }, MEMBER);
    const { fresh, warnings } = await closed.app.get(SharedLoader).load(dir);
    expect([fresh, warnings]).toEqual([[], [expect.stringContaining('EVERDICT_ALLOW_LOCAL_RUNTIMES')]]);
    await write('runtimes/new.json', { ...farm, id: 'new' });
    await expect(closed.app.get(SharedLoader).load(dir)).rejects.toThrow('runtimes/new.json: the runtime is not valid');
  } finally {
    await closed.close();
  }
});

test('a directory that does not exist is an error that names it', async () => {
  await expect(api.app.get(SharedLoader).load(path.join(dir, 'nowhere'))).rejects.toThrow('nowhere');
});
