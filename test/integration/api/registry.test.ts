import { type Api, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

const nomad = {
  kind: 'nomad',
  version: '1.0.0',
  addr: 'http://nomad.example.test:4646',
  image: 'registry.example.test/runner:1',
};
const harness = { kind: 'command', id: 'solver', version: '1.0.0', command: 'true' };

describe('registering', () => {
  test('a new version answers 201 with its place, the same content again 200, other content 409', async () => {
    const first = await api.send('POST', '/harnesses', harness);
    expect([first.status, first.headers.get('location')]).toEqual([201, '/harnesses/solver/versions/1.0.0']);

    const reordered = Object.fromEntries(Object.entries(harness).reverse());
    expect((await api.send('POST', '/harnesses', reordered)).status).toBe(200);

    const other = await api.send('POST', '/harnesses', { ...harness, command: 'false' });
    expect([other.status, other.body.code]).toEqual([409, 'CONFLICT']);
    expect(other.body.detail).toContain('solver@1.0.0');
    expect(other.body.detail).toContain('give it a new version');
    expect(other.body.errors.map(({ path }: { path: string }) => path)).toEqual(['command']);
  });

  test.each([
    ['/runtimes', (i: number) => ({ kind: 'local', id: 'race', version: '1', maxConcurrent: 2 + i })],
    ['/harnesses', (i: number) => ({ ...harness, id: 'race', command: `exit ${i}` })],
    ['/datasets', (i: number) => ({ id: 'race', version: '1', cases: [{ id: 'a', task: `${i}` }] })],
  ])('one version at %s 200 times at once, with two contents, has one of them', async (path, content) => {
    const replies = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => ({
        i: i % 2,
        status: (await api.send('POST', path, content(i % 2))).status,
      })),
    );
    const winner = replies.find(({ status }) => status === 201)?.i;
    const tally = new Map<number, number>();
    for (const { status } of replies) tally.set(status, (tally.get(status) ?? 0) + 1);
    expect(Object.fromEntries(tally)).toEqual({ 200: 99, 201: 1, 409: 100 });
    expect(replies.filter(({ i, status }) => (status === 409) === (i === winner))).toEqual([]);
  });

  test('A01: an empty or blank version is refused, `v1` is taken', async () => {
    const statuses = [];
    for (const version of ['', 'v1', '   ']) {
      statuses.push((await api.send('POST', '/runtimes', { ...nomad, id: 'a01', version })).status);
    }
    expect(statuses).toEqual([400, 201, 400]);
  });

  test('A05: what was stored may be registered again as it is read', async () => {
    await api.send('POST', '/runtimes', { ...nomad, id: 'a05' });
    const stored = await api.send('GET', '/runtimes/a05/versions/1.0.0');
    expect((await api.send('POST', '/runtimes', stored.body)).status).toBe(200);
  });

  test.each([
    ['plain nomad', { ...nomad, id: 'a11a' }, ['docker']],
    ['a hardened runtime', { ...nomad, id: 'a11b', runtime: 'runsc' }, ['docker', 'sandbox']],
    ['a trace source', { ...nomad, id: 'a11c', traceSource: 'http://trace.example.test' }, ['docker', 'topology']],
    ['gpu', { ...nomad, id: 'a11d', gpu: 1 }, ['docker', 'gpu']],
    ['declared ones', { ...nomad, id: 'a11e', capabilities: ['os-windows'] }, ['docker', 'os-windows']],
    ['local', { kind: 'local', id: 'a11f', version: '1' }, []],
  ])('A11: capabilities of %s are stored with the spec', async (_title, spec, capabilities) => {
    const { body } = await api.send('POST', '/runtimes', spec);
    expect(new Set(body.capabilities)).toEqual(new Set(capabilities));
    expect((await api.send('POST', '/runtimes', body)).status).toBe(200);
  });

  test('a changed limit of the latest version is signalled to the admission workflow, an older version is not', async () => {
    const signals = async (version: string, maxConcurrent: number) => {
      const before = api.calls.length;
      await api.send('POST', '/runtimes', { kind: 'local', id: 'dial', version, maxConcurrent });
      return api.calls.slice(before);
    };
    await signals('1.0.0', 2);
    expect(await signals('1.1.0', 5)).toEqual([{ verb: 'signal', workflowId: 'admission:default:dial', argument: 2 }]);
    expect(await signals('1.0.5', 1)).toEqual([]);
  });

  test.each([
    ['a local runtime', { kind: 'local', id: 'x', version: '1' }, 'EVERDICT_ALLOW_LOCAL_RUNTIMES'],
    [
      'a nomad driver without isolation',
      { ...nomad, id: 'x', driver: 'raw_exec' },
      'EVERDICT_ALLOW_UNISOLATED_DRIVERS',
    ],
    [
      'the own kubeconfig',
      { kind: 'k8s', id: 'x', version: '1', image: 'i', context: 'c' },
      'EVERDICT_ALLOW_AMBIENT_KUBECONFIG',
    ],
  ])('%s needs the word of the operator', async (_title, spec, flag) => {
    const closed = await startApi({ env: { EVERDICT_ALLOW_LOCAL_RUNTIMES: '0' } });
    try {
      const { status, body } = await closed.send('POST', '/runtimes', spec);
      expect([status, body.code]).toEqual([400, 'BAD_SPEC']);
      expect(body.detail).toContain(flag);
    } finally {
      await closed.close();
    }
  });

  test.each([
    ['an unknown key', { ...harness, tag: ['x'] }, 'tag', 'did you mean `tags`?'],
    ['a wrong type', { ...harness, command: 7 }, 'command', 'expected string'],
    ['a variable that does not exist', { ...harness, command: 'echo $EVERDICT_TSAK' }, 'command', '$EVERDICT_TASK'],
    ['NUL', { ...harness, command: 'a\0b' }, 'command', 'NUL'],
    [
      'a session pool at an address that is closed',
      { ...harness, acquire: { capacity: { poll: 'http://10.0.0.1/pool', total: 'n' } } },
      'acquire.capacity.poll',
      'not one that this deployment connects to',
    ],
    [
      'a path that is none',
      { ...harness, acquire: { capacity: { poll: 'http://pool.test/', total: 'n', used: 'a[' } } },
      'acquire.capacity.used',
      'is no path into JSON',
    ],
    ['the id `__proto__`', { ...harness, id: '__proto__' }, 'id', 'starts with a letter'],
    ['the version `latest`', { ...harness, version: 'latest' }, 'version', 'latest'],
  ])('%s in a harness is a 400 that names the place', async (_title, spec, path, part) => {
    const { status, body } = await api.send('POST', '/harnesses', { ...spec, version: spec.version ?? '2' });
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(path);
    expect(body.errors[0].message).toContain(part);
  });
});

describe('reading', () => {
  test('`latest` is the highest version, not the newest', async () => {
    for (const version of ['2.0.0', '10.0.0', '9.1.0'])
      await api.send('POST', '/harnesses', { ...harness, id: 'many', version });
    expect((await api.send('GET', '/harnesses/many/versions/latest')).body.version).toBe('10.0.0');
    expect((await api.send('GET', '/harnesses/many/versions/2.0.0')).body.version).toBe('2.0.0');
  });

  test('a list comes in pages whose cursor leads to the rest', async () => {
    const seen: string[] = [];
    let query = '?limit=2';
    for (let page = 0; page < 20; page++) {
      const { body } = await api.send('GET', `/harnesses${query}`);
      seen.push(...body.items.map(({ id, version }: { id: string; version: string }) => `${id}@${version}`));
      if (body.next === null) break;
      query = `?limit=2&cursor=${body.next}`;
    }
    const { body: whole } = await api.send('GET', '/harnesses');
    expect(seen).toEqual(whole.items.map(({ id, version }: { id: string; version: string }) => `${id}@${version}`));
    expect(seen.length).toBeGreaterThan(3);
  });

  test.each([
    '/datasets/none/versions/1',
    '/datasets/none/versions/latest/cases',
    '/harnesses/solver/versions/7',
    '/runtimes/none/versions/latest',
    '/runtimes/NOT%20AN%20ID/versions/latest',
  ])('GET %s is a 404', async (path) => {
    const { status, body } = await api.send('GET', path);
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });

  test.each(['?cursor=junk', '?limit=0', '?limit=1000', '?limt=3', '?limit=a'])(
    'the query %s is a 400',
    async (query) => {
      const { status, body } = await api.send('GET', `/runtimes${query}`);
      expect([status, body.errors.length]).toEqual([400, 1]);
    },
  );
});

describe('what is said of a version', () => {
  const PATH = '/runtimes/said/versions/1.0.0';
  const listed = async (query: string) => (await api.send('GET', `/runtimes?${query}`)).body.items;
  beforeAll(async () => {
    for (const version of ['1.0.0', '2.0.0']) {
      await api.send('POST', '/runtimes', { kind: 'local', id: 'said', version, maxConcurrent: 1, tags: ['first'] });
    }
  });

  test('A13: its tags are replaced, cleared and listed, and are no part of its content', async () => {
    const content = (await api.send('GET', PATH)).body;
    const tagged = await api.send('PUT', `${PATH}/tags`, { tags: ['gpu node'] });
    expect([tagged.status, tagged.body.tags, tagged.body.owner]).toEqual([200, ['gpu node'], 'default']);
    expect((await listed('tag=gpu%20node')).map((item: { version: string }) => item.version)).toEqual(['1.0.0']);
    expect((await api.send('GET', PATH)).body).toEqual(content);
    expect((await api.send('POST', '/runtimes', content)).status).toBe(200);
    expect((await api.send('PUT', `${PATH}/tags`, { tags: [] })).body.tags).toEqual([]);
    expect(await listed('tag=gpu%20node')).toEqual([]);
  });

  test('a deprecated version is no latest, and is used with a warning by whoever names it', async () => {
    await api.send('POST', '/datasets', { id: 'said', version: '1', cases: [{ id: 'a', task: 'x' }] });
    const calls = api.calls.length;
    const answer = await api.send('POST', '/runtimes/said/versions/2.0.0/deprecate', { reason: 'the rack burnt' });
    expect(answer.body).toMatchObject({ deprecated: true, deprecatedReason: 'the rack burnt', latest: false });
    expect((await api.send('GET', '/runtimes/said/versions/latest')).body.version).toBe('1.0.0');
    expect(api.calls.length).toBe(calls);

    const wanted = { dataset: 'said', harness: 'solver', runtime: 'said@2.0.0' };
    const { status, body } = await api.send('POST', '/scorecards', wanted);
    expect([status, body.warnings]).toEqual([202, ['runtime said@2.0.0 is deprecated: the rack burnt']]);

    await api.send('POST', `${PATH}/deprecate`);
    const none = await api.send('GET', '/runtimes/said/versions/latest');
    expect([none.status, none.body.detail]).toEqual([
      404,
      expect.stringContaining('every version of runtime said is deprecated'),
    ]);
    expect((await api.send('POST', '/runtimes/said/versions/2.0.0/restore')).body).toMatchObject({ latest: true });
    expect((await listed('id=said')).map((item: { latest: boolean }) => item.latest)).toEqual([false, true]);
  });

  test.each<[string, string, unknown, number, string]>([
    ['PUT', '/runtimes/said/versions/7/tags', { tags: [] }, 404, 'the latest version is'],
    ['PUT', '/runtimes/sayd/versions/1.0.0/tags', { tags: [] }, 404, 'did you mean said?'],
    ['POST', '/harnesses/none/versions/1/confirm', undefined, 404, 'there is no harness none@1'],
    ['POST', '/runtimes/said/versions/latest/deprecate', {}, 404, 'is a way to ask'],
    ['PUT', `${PATH}/tags`, { tags: Array.from({ length: 21 }, (_, i) => `${i}`) }, 400, 'has more than 20 tags'],
    ['PUT', `${PATH}/tags`, { tags: [' '] }, 400, 'tags[0]: is blank'],
    ['PUT', `${PATH}/tags`, { tag: [] }, 400, 'did you mean `tags`?'],
    ['POST', `${PATH}/deprecate`, { reason: 7 }, 400, 'reason'],
  ])('%s %s with %j is refused', async (method, path, body, status, part) => {
    const reply = await api.send(method, path, body);
    expect([reply.status, reply.body.detail]).toEqual([status, expect.stringContaining(part)]);
  });
});
