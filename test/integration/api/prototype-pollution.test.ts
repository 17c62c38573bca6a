import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

const ROUTES = ['/runtimes', '/harnesses', '/datasets', '/scorecards', '/runs'];
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

/** A property that only a polluted prototype has. */
const polluted = (): unknown[] => ['admin', 'x'].map((name) => Reflect.get({}, name) ?? Reflect.get([], name));

const harness = (extra: string, version = '1'): string =>
  `{"kind":"command","id":"maps","version":"${version}","command":"true",${extra}}`;
const runtime = (extra: string, version: string): string =>
  `{"kind":"k8s","id":"maps","version":"${version}","server":"https://k8s.example:6443","authSecret":"a","image":"x",${extra}}`;

describe('keys that would reach a prototype', () => {
  test.each(ROUTES)('are unknown keys of %s, and reach none', async (route) => {
    for (const body of ['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"x":1}}}']) {
      const { status, body: problem } = await api.send('POST', route, body);
      expect([status, problem.code]).toEqual([400, 'BAD_REQUEST']);
      expect(problem.errors.length).toBeGreaterThan(0);
    }
    expect(polluted()).toEqual([undefined, undefined]);
  });

  test.each(NAMES)('are data in maps, or refused: %s', async (name) => {
    const version = name.replaceAll('_', '');
    const map = `{"${name}":"1"}`;
    const submit = `{"dataset":"tasks","harness":"echo","runtime":"here","metadata":${map}}`;
    const answers = {
      params: await api.send('POST', '/harnesses', harness(`"params":${map}`, `p-${version}`)),
      env: await api.send('POST', '/harnesses', harness(`"env":${map}`, `e-${version}`)),
      nodeSelector: await api.send('POST', '/runtimes', runtime(`"nodeSelector":${map}`, version)),
      metadata: await api.send('POST', '/scorecards', submit),
    };
    for (const [key, { status, body }] of Object.entries(answers)) {
      if (status >= 300) expect([key, status, JSON.stringify(body)]).toEqual([key, 400, expect.stringContaining(name)]);
      else {
        const stored = key === 'metadata' ? await metadataOf(body.id) : body[key];
        expect([key, Object.entries(stored)]).toEqual([key, [[name, '1']]]);
      }
    }
    expect(typeof Object.prototype.toString).toBe('function');
    expect(polluted()).toEqual([undefined, undefined]);
  });

  const metadataOf = async (id: string) => (await api.send('GET', `/scorecards/${id}`)).body.metadata;

  test.each(NAMES)('name nothing that is registered: %s', async (name) => {
    for (const path of [
      `/runtimes/${name}/versions/1`,
      `/runtimes/here/versions/${name}`,
      `/datasets/${name}/versions/1`,
    ]) {
      expect([path, (await api.send('GET', path)).status]).toEqual([path, 404]);
    }
    const submit = { dataset: 'tasks', harness: 'echo', runtime: name };
    const { status, body } = await api.send('POST', '/scorecards', submit);
    expect(status).toBe(/^[a-z0-9]/.test(name) && name === name.toLowerCase() ? 404 : 400);
    expect(JSON.stringify(body)).toContain('runtime');
  });

  test('may not be ids, and a version like a method is a version like any other', async () => {
    const named = (id: string, version: string) => ({ kind: 'local', id, version });
    expect((await api.send('POST', '/runtimes', named('__proto__', '1'))).status).toBe(400);
    expect((await api.send('POST', '/runtimes', named('constructor', 'constructor'))).status).toBe(201);
    const { status, body } = await api.send('GET', '/runtimes/constructor/versions/latest');
    expect([status, body.version]).toEqual([200, 'constructor']);
  });
});
