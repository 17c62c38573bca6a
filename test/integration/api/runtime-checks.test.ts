import { Buffer } from 'node:buffer';
import { FakeNomad } from '../../../dev/fake-nomad/fake-nomad.js';
import { RuntimeStore } from '../../../store/runtime.store.js';
import { aNomadRuntime } from '../../builders.js';
import { selfSigned } from '../../certificates.js';
import { TOKEN as K8S_TOKEN, openK8sLab } from '../../k8s-lab.js';
import { type Api, type Reply, rowCounts, startApi } from './server.js';

const TOKEN = '11111111-1111-1111-1111-111111111111';
const ADMIN = 'bootstrap-key-0123456789-0123456789';
const KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

let api: Api;
let nomad: FakeNomad;
beforeAll(async () => {
  [api, nomad] = await Promise.all([
    startApi({ env: { EVERDICT_SECRETS_KEY: KEY, EVERDICT_BOOTSTRAP_KEY: ADMIN } }),
    FakeNomad.start({ version: '1.6.10', nodes: [] }),
  ]);
}, 60_000);
beforeEach(() => nomad.reset());
afterAll(() => Promise.all([api.close(), nomad.stop()]));

const send = (method: string, path: string, body?: unknown, headers: object = {}, key = ADMIN): Promise<Reply> =>
  api.send(method, path, body, { authorization: `Bearer ${key}`, ...headers });
const spec = (parts: object = {}) => ({
  kind: 'nomad',
  id: 'rack-a',
  version: '1.0.0',
  addr: nomad.url,
  image: 'registry.example.test/runner:1',
  ...parts,
});
const K1 = {
  kind: 'k8s',
  id: 'kube-a',
  version: '1.0.0',
  image: 'registry.example.test/runner:1',
  server: 'https://kube.example.test:6443',
  authSecret: 'KUBE_TOKEN',
  kubeconfigSecret: 'KUBECONFIG_PROD',
};

const validate = (body: unknown) => send('POST', '/runtimes/validate', body);
const probe = (body: unknown) => send('POST', '/runtimes/probe', body);
const register = (body: unknown, token?: string) =>
  send('POST', '/runtimes', body, token === undefined ? {} : { 'x-everdict-check': token });
const setSecret = (name: string, origins: string[], value = TOKEN) =>
  send('PUT', `/secrets/${name}`, { use: 'cluster', value, origins });

describe('validate', () => {
  test('names the secrets that are missing, and is content without them', async () => {
    const first = await validate(K1);
    expect(first).toMatchObject({ status: 200, body: { ok: true, versionExists: false, existingVersions: [] } });
    expect(first.body.missingSecrets).toEqual(['KUBE_TOKEN', 'KUBECONFIG_PROD']);
    await setSecret('KUBE_TOKEN', ['https://kube.example.test:6443']);
    expect((await validate(K1)).body.missingSecrets).toEqual(['KUBECONFIG_PROD']);
  });

  test('knows the versions there are, the highest first', async () => {
    for (const version of ['1.2.0', '1.10.0']) await register(spec({ id: 'versions', version }));
    expect((await validate(spec({ id: 'versions', version: '1.2.0' }))).body).toMatchObject({
      ok: true,
      kind: 'nomad',
      id: 'versions',
      version: '1.2.0',
      versionExists: true,
      existingVersions: ['1.10.0', '1.2.0'],
    });
  });

  test.each<[string, unknown, string, RegExp]>([
    ['no JSON', '{"kind":', '', /line 1/],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), '', /UTF-8/],
    ['nothing', undefined, '', /JSON body is required/],
    ['a list', '[]', '', /./],
    ['null', 'null', '', /./],
    ['a key of prototypes', '{"__proto__":{"admin":true}}', '', /__proto__/],
    ['a wrong key', spec, 'constrants', /constraints/],
  ])('answers 200 to %s', async (_title, body, path, message) => {
    const { status, body: answer } = await validate(typeof body === 'function' ? spec({ constrants: [] }) : body);
    expect([status, answer.ok, answer.errors[0].path]).toEqual([200, false, path]);
    expect(answer.errors[0].message).toMatch(message);
  });

  test('asks no cluster and stores nothing', async () => {
    const before = await rowCounts(api);
    await validate(spec({ id: 'unseen' }));
    expect(await rowCounts(api)).toEqual(before);
    expect(nomad.connections).toBe(0);
  });
});

describe('probe', () => {
  test('finds the cluster, names its agent and gives no reason', async () => {
    const { status, body } = await probe(spec());
    expect(status).toBe(200);
    expect(body).toEqual({
      kind: 'nomad',
      reachable: true,
      detail: 'Nomad 1.6.10, agent rack-1.global',
      latencyMs: expect.any(Number),
      checkToken: expect.any(String),
    });
  });

  test.each([
    [{ status: 403, body: 'Permission denied' }, 'auth'],
    [{ status: 500, body: 'boom' }, 'error'],
    ['reset', 'unreachable'],
  ] as const)('tells %j', async (answer, reason) => {
    nomad.script('/v1/agent/self', answer);
    const { body } = await probe(spec());
    expect(body).toMatchObject({ kind: 'nomad', reachable: false, reason });
    expect(body).not.toHaveProperty('checkToken');
  });

  test('works for a runtime that can host services, too', async () => {
    expect((await probe(spec({ traceSource: 'https://traces.example.test' }))).body.reachable).toBe(true);
  });

  test('says of local runtimes whether a worker takes their jobs', async () => {
    expect((await probe({ kind: 'local', id: 'desk', version: '1' })).body).toMatchObject({
      kind: 'local',
      reachable: false,
      reason: 'unreachable',
      detail: expect.stringMatching(/no worker takes local jobs/),
    });
  });

  test('of the same workspace are four at a time', async () => {
    nomad.script('/v1/agent/self', 'hang');
    const held = Array.from({ length: 4 }, () => probe(spec()).catch(() => undefined));
    while (nomad.requests.length < 4) await new Promise((done) => setTimeout(done, 5));
    const { status, body } = await probe(spec());
    expect([status, body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    nomad.cut();
    await Promise.all(held);
    nomad.reset();
    expect((await probe(spec())).body.reachable).toBe(true);
  });
});

describe('an address that this deployment does not open', () => {
  const CLOSED = ['http://10.0.0.5', 'http://169.254.169.254/', 'http://[::1]:7233', 'http://metadata.google.internal'];

  test.each(CLOSED)('%s is refused alike by validate, register and probe', async (addr) => {
    const text = 'the address is not one that this deployment connects to';
    const closed = spec({ id: 'closed', addr });
    expect((await validate(closed)).body).toEqual({ ok: false, errors: [{ path: 'addr', message: text }] });
    const { status, body } = await register(closed);
    expect([status, body.code, body.errors]).toEqual([400, 'BAD_SPEC', [{ path: 'addr', message: text }]]);
    expect((await probe(closed)).body).toMatchObject({ reachable: false, reason: 'refused', detail: text });
  });

  test.each([
    'file:///etc/passwd',
    'gopher://x',
    'unix:///var/run/docker.sock',
    'http://user:pw@host',
    'http://host#@evil.test',
    'http://host/?x=1',
    'http://host\\@evil.test',
    'http://ho st',
  ])('%s is no address of a cluster', async (addr) => {
    const { body } = await validate(spec({ addr }));
    expect([body.ok, body.errors[0].path]).toEqual([false, 'addr']);
    expect((await probe(spec({ addr }))).status).toBe(400);
  });
});

describe('a secret', () => {
  const named = (parts: object = {}) => spec({ id: 'secretive', authSecret: 'RACK', ...parts });

  test('goes to its origin, and a runtime that would send it elsewhere is refused everywhere', async () => {
    await setSecret('RACK', [nomad.url]);
    expect((await probe(named())).body.reachable).toBe(true);
    expect(nomad.requests.map(({ token }) => token)).toEqual([TOKEN]);
    nomad.reset();

    const elsewhere = named({ addr: nomad.url.replace('127.0.0.1', '127.0.0.2') });
    const replies: Reply[] = await Promise.all([validate(elsewhere), probe(elsewhere), register(elsewhere)]);
    expect(replies[0]?.body).toMatchObject({ ok: false, errors: [{ path: 'authSecret' }] });
    expect(replies[1]?.body).toMatchObject({ reachable: false, reason: 'refused' });
    expect(replies[2]).toMatchObject({ status: 400, body: { errors: [{ path: 'authSecret' }] } });
    expect(nomad.connections).toBe(0);
    for (const { body } of replies) expect(JSON.stringify(body)).not.toContain(TOKEN);
  });

  test('goes with no authority that a viewer chose, but with one of a confirmed version', async () => {
    await setSecret('RACK', [nomad.url]);
    const { value: viewer } = (await send('POST', '/keys', { name: 'looks', role: 'viewer', scope: 'write' })).body;
    const asViewer = (body: unknown) => send('POST', '/runtimes/probe', body, {}, viewer);
    const { cert: caCert } = selfSigned('IP:127.0.0.1');
    expect((await asViewer(named({ caCert }))).body).toMatchObject({
      reason: 'refused',
      detail: expect.stringMatching(/^caCert: /),
    });
    expect(nomad.connections).toBe(0);
    expect((await asViewer(named())).body.reachable).toBe(true);
    expect((await probe(named({ caCert }))).body.reachable).toBe(true);
    await register(named({ id: 'with-ca', caCert }));
    expect((await asViewer(named({ caCert }))).body.reachable).toBe(true);
  });

  test('of an unconfirmed version is not used to inspect it', async () => {
    await setSecret('RACK', [nomad.url]);
    const unconfirmed = aNomadRuntime(named({ id: 'unconfirmed' }));
    const by = { subject: 'a viewer', mayConfirm: false };
    await new RuntimeStore(api.database.dataSource).insert('default', unconfirmed, { slots: 1 }, by);
    const { body } = await send('GET', '/runtimes/unconfirmed/versions/1.0.0/inspect');
    expect(body.warnings).toContain('nobody confirmed this version: it is looked at without its secret');
    expect(nomad.requests.length).toBeGreaterThan(0);
    expect(nomad.requests.filter(({ token }) => token !== undefined)).toEqual([]);
  });
});

describe('a kubeconfig', () => {
  let lab: Awaited<ReturnType<typeof openK8sLab>>;
  beforeAll(async () => {
    lab = await openK8sLab();
  });
  afterAll(() => lab.fake.close());
  const runtime = { kind: 'k8s', id: 'kube', version: '1.0.0', image: 'runner:1', kubeconfigSecret: 'CONFIG' };
  const set = (config: string) => setSecret('CONFIG', [lab.fake.url], config);

  test('of a secret leads to its cluster, by probe and inspection', async () => {
    await set(lab.kubeconfig({ token: K8S_TOKEN }));
    expect((await probe(runtime)).body).toMatchObject({ reachable: true, checkToken: expect.any(String) });
    expect((await register(runtime)).status).toBe(201);
    const { body } = await send('GET', '/runtimes/kube/versions/1.0.0/inspect');
    expect(body).toMatchObject({
      id: 'kube',
      cluster: 'Kubernetes v1.34.4',
      namespace: { exists: true },
      warnings: [],
    });
  });

  test('that would go elsewhere, or run a program, is refused everywhere and asked nowhere', async () => {
    lab.reset();
    const exec = { exec: { command: 'touch', args: ['/tmp/everdict-ran'] } };
    for (const config of [lab.kubeconfig({ token: K8S_TOKEN }, 'https://127.0.0.1:9'), lab.kubeconfig(exec)]) {
      await set(config);
      const other = { ...runtime, version: '2.0.0' };
      const replies: Reply[] = await Promise.all([validate(other), probe(other), register(other)]);
      expect(replies[0]?.body).toMatchObject({ ok: false, errors: [{ path: 'kubeconfigSecret' }] });
      expect(replies[1]?.body).toMatchObject({ reachable: false, reason: 'refused' });
      expect(replies[2]).toMatchObject({ status: 400, body: { errors: [{ path: 'kubeconfigSecret' }] } });
      for (const { body } of replies) expect(JSON.stringify(body)).not.toContain(K8S_TOKEN);
    }
    expect(lab.fake.requests).toEqual([]);
  });
});

describe('a check token', () => {
  test('lets only the spec in that was checked, in any order of its keys', async () => {
    const checked = spec({ id: 'checked' });
    const { checkToken } = (await probe(checked)).body;
    const other = await register({ ...checked, maxConcurrent: 3 }, checkToken);
    expect([other.status, other.body.errors[0].path]).toEqual([409, 'X-Everdict-Check']);
    const turned = Object.fromEntries(Object.entries(checked).reverse());
    expect((await register(turned, checkToken)).status).toBe(201);
    expect((await register(checked, (await validate(checked)).body.checkToken)).status).toBe(200);
  });

  test.each(['', 'x', '1700000000000.a.b'])('%j is refused', async (token) => {
    const { status, body } = await register(spec({ id: 'junk' }), token);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

test('registering a second runtime at one cluster says that they do not share an envelope', async () => {
  const addr = 'http://shared.example.test:4646';
  const first = await register(spec({ id: 'one', addr }));
  expect(first.headers.get('x-everdict-warning')).toBeNull();
  expect((await register(spec({ id: 'one', version: '1.0.1', addr }))).headers.get('x-everdict-warning')).toBeNull();
  const second = spec({ id: 'two', addr: 'http://SHARED.example.test.:4646/' });
  expect((await validate(second)).body.warnings).toEqual([expect.stringMatching(/^runtime one uses the same/)]);
  const { status, headers, body } = await register(second);
  expect([status, body.id]).toEqual([201, 'two']);
  expect(headers.get('x-everdict-warning')).toMatch(/^runtime one uses the same cluster address/);
});

describe('inspect', () => {
  test('shows the cluster of a registered version', async () => {
    await register(spec({ id: 'looked-at' }));
    const { status, body } = await send('GET', '/runtimes/looked-at/versions/latest/inspect');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 'looked-at',
      version: '1.0.0',
      kind: 'nomad',
      cluster: 'Nomad 1.6.10',
      nodes: [],
    });
  });

  test('says why the cluster does not answer, and what is not registered', async () => {
    nomad.script('/v1/agent/self', { status: 500, body: 'No cluster leader' });
    const { status, body } = await send('GET', '/runtimes/looked-at/versions/1.0.0/inspect');
    expect([status, body.code]).toEqual([503, 'CLUSTER_UNREACHABLE']);
    expect(body.detail).toMatch(/Nomad has no leader now/);
    expect((await send('GET', '/runtimes/nowhere/versions/1.0.0/inspect')).status).toBe(404);
  });
});
