import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { FakeK8s, type Script } from '../../dev/fake-k8s/fake-k8s.js';
import { failure, forbidden } from '../../dev/fake-k8s/status.js';
import { parseAllowList } from '../../policy/addresses.js';
import type { BoundCredential } from '../../secrets/cluster-credential.js';
import { aK8sRuntime } from '../../test/builders.js';
import { createCluster } from '../cluster.js';
import type { ClusterClient } from '../cluster-client.js';
import { Egress } from '../egress/guard.js';
import { JOB_RIGHTS, NETWORK_RIGHTS, rightText } from './k8s.rights.js';

const TOKEN = 'canary-token';
const USER = 'system:serviceaccount:evals:everdict';
const certificates = makeCertificates({ name: 'kube.example.test' });
const onLoopback = new Egress(parseAllowList('127.0.0.0/8').rules);
const ALL = ['*'];

const aNode = (name: string, labels: Record<string, string> = {}, spec: object = {}, more: object = {}) => ({
  metadata: { name, labels },
  spec,
  status: {
    capacity: { cpu: '4', memory: '8Gi' },
    allocatable: { cpu: '3900m', memory: '7Gi' },
    conditions: [
      { type: 'MemoryPressure', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
    nodeInfo: { kubeletVersion: 'v1.34.4' },
    ...more,
  },
});

const cluster = () => ({
  version: 'v1.34.4',
  nodes: [aNode('node-1')],
  namespaces: ['default', 'evals'],
  namespaced: {},
  runtimeClasses: [{ metadata: { name: 'gvisor' } }],
});
const state = { certificates, cluster: cluster(), accounts: { [TOKEN]: { user: USER, rights: ALL } } };
let fake: FakeK8s;
beforeAll(async () => {
  fake = await FakeK8s.start({ ...state, certificateAccount: { user: 'dispatcher', rights: ALL } });
});
afterAll(() => fake.close());

interface Look {
  spec?: object;
  credential?: Partial<BoundCredential>;
  egress?: Egress;
  timeoutMs?: number;
}

/** A look at the fake with a token, with whatever a test makes different. */
async function look<Found>(
  { spec = {}, credential, egress = onLoopback, timeoutMs = 5_000 }: Look,
  use: (cluster: ClusterClient, signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const runtime = aK8sRuntime({ server: fake.url, authSecret: 'kube', caCert: certificates.ca, ...spec });
  if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
  const path = runtime.kubeconfigSecret ? 'kubeconfigSecret' : 'authSecret';
  const secret: BoundCredential = { name: 'kube', path, token: TOKEN, origins: [fake.url], version: 1, ...credential };
  const looking = createCluster(runtime, secret, { egress, nomadConnections: 1 });
  try {
    return await use(looking, AbortSignal.timeout(timeoutMs));
  } finally {
    await looking.close();
  }
}
const probe = (options: Look = {}) => look(options, (looking, signal) => looking.probe(signal));
const inspect = (options: Look = {}) => look(options, (looking, signal) => looking.inspect(signal));
const kubeconfig = (user: object, server = fake.url) =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': btoa(certificates.ca) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'evals' } }],
    users: [{ name: 'u', user }],
    'current-context': 'x',
  });

beforeEach(() => {
  fake.reset();
  Object.assign(state.cluster, cluster());
  state.accounts[TOKEN] = { user: USER, rights: ALL };
});

describe('probe', () => {
  test('says the version, the namespace and the account, and sends the token as it was stored', async () => {
    expect(await probe({ spec: { namespace: 'evals' }, credential: { token: `${TOKEN}\n` } })).toEqual({
      reachable: true,
      detail: `Kubernetes v1.34.4, namespace evals, as ${USER}`,
    });
    expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /version',
      'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
    ]);
    for (const { headers } of fake.requests) expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('is the same for a runtime that can host topologies', async () => {
    const spec = { traceSource: 'https://traces.example.test', browserImage: 'browser:1' };
    expect(await probe({ spec })).toMatchObject({ reachable: true });
    expect(await inspect({ spec })).toMatchObject({ kind: 'k8s', warnings: [] });
  });

  test('takes server, namespace and client certificate from a kubeconfig, before any other credential', async () => {
    const { cert, key } = certificates.client;
    const value = kubeconfig({ 'client-certificate-data': btoa(cert), 'client-key-data': btoa(key) });
    const spec = { kubeconfigSecret: 'kube', server: 'https://elsewhere.example.test', caCert: undefined };
    expect(await probe({ spec, credential: { kubeconfig: value } })).toEqual({
      reachable: true,
      detail: 'Kubernetes v1.34.4, namespace evals, as dispatcher',
    });
    expect(fake.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('does not take an answered version for an accepted credential', async () => {
    const spec = { kubeconfigSecret: 'kube' };
    const nobody = { reachable: false, reason: 'auth', detail: expect.stringMatching(/takes us for anonymous$/) };
    expect(await probe({ spec, credential: { kubeconfig: kubeconfig({ username: 'a', password: 'b' }) } })).toEqual(
      nobody,
    );
    fake.script('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', failure(404, 'NotFound', 'no such thing'));
    expect(await probe({ spec, credential: { kubeconfig: kubeconfig({ username: 'a', password: 'b' }) } })).toEqual(
      nobody,
    );
  });

  test('accepts clusters that do not say who we are, or not their version', async () => {
    const SELF = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews';
    fake.script(SELF, failure(404, 'NotFound', 'the server could not find the requested resource'));
    expect(await probe()).toEqual({ reachable: true, detail: 'Kubernetes v1.34.4, namespace default' });
    fake.script(SELF, forbidden(USER, { verb: 'create', group: 'authentication.k8s.io', resource: 'x' }));
    const message = `forbidden: User "${USER}" cannot get path "/version"`;
    fake.script('GET /version', failure(403, 'Forbidden', message));
    expect(await probe()).toEqual({ reachable: true, detail: `Kubernetes, namespace default, as ${USER}` });
  });

  const html = { status: 200, body: '<html>hello</html>', headers: { 'content-type': 'text/html' } };
  const redirect = (location: string) => ({ status: 307, body: '', headers: { location } });
  const cases: [string, Script, string, RegExp][] = [
    ['a token that is not known', failure(401, 'Unauthorized', 'Unauthorized'), 'auth', /does not accept .*\(401\)/],
    ['a wall before the cluster', { status: 403, body: '<html>no</html>' }, 'auth', /\(403\)$/],
    [
      'https in http',
      { status: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' },
      'error',
      /speaks HTTPS/,
    ],
    ['a web page', html, 'error', /no Kubernetes API server/],
    ['JSON of another kind', { status: 200, body: { gitVersion: '<b>1</b>' } }, 'error', /no Kubernetes API server/],
    ['a list', { status: 200, body: [] }, 'error', /no Kubernetes API server/],
    ['a place without an API', { status: 404, body: '404 page not found' }, 'error', /no Kubernetes API server/],
    ['an outdated request', failure(410, 'Expired', 'old'), 'error', /410 Expired/],
    ['too many requests', { status: 429, body: 'Too many' }, 'error', /too many requests \(429\)/],
    ['a fault', failure(500, 'InternalError', 'canary'), 'error', /answers 500 InternalError$/],
    ['a fault of a proxy', { status: 502, body: 'canary' }, 'error', /answers 502, and not as a Kubernetes/],
    ['a server that is not ready', { status: 503, body: 'apiserver not ready' }, 'error', /answers 503/],
    ['a redirect', redirect('https://169.254.169.254/a?canary'), 'error', /redirect to https:\/\/169.254.169.254$/],
    ['a redirect to nowhere', redirect('data:canary'), 'error', /unexpected redirect/],
    ['a dropped connection', 'reset', 'unreachable', /cut|ended/],
    ['half an answer', { partial: '{"gitVersion"' }, 'unreachable', /cut|ended/],
    ['an endless answer', { status: 200, body: `"${'x'.repeat(17 * 2 ** 20)}"` }, 'error', /more than 16 MB/],
  ];
  test.each(cases)('%s is named in our words', async (_what, script, reason, detail) => {
    fake.script('GET /version', script);
    const answer = await probe();
    expect(answer).toEqual({ reachable: false, reason, detail: expect.stringMatching(detail) });
    expect(answer.detail).not.toMatch(/canary|[\p{Cc}\p{Cf}]/u);
    expect(fake.requests).toHaveLength(1);
  });

  test('a silent cluster is unreachable once the time is up', async () => {
    fake.script('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', 'hang');
    expect(await probe({ timeoutMs: 300 })).toMatchObject({
      reason: 'unreachable',
      detail: 'it did not answer in time',
    });
  });

  test('a certificate that is not of the authority, or of another name, is an error', async () => {
    expect(await probe({ spec: { caCert: undefined } })).toMatchObject({ reason: 'error', detail: /`caCert`/ });
    const server = fake.url.replace('127.0.0.1', 'kube.other.test');
    const value = kubeconfig({ token: TOKEN }, server);
    const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => [{ address: '127.0.0.1', family: 4 }]);
    const spec = { kubeconfigSecret: 'kube' };
    const options = { spec, egress, credential: { kubeconfig: value, origins: [server] } };
    expect(await probe(options)).toMatchObject({ reason: 'error', detail: /of another name/ });
    const named = JSON.parse(value);
    named.clusters[0].cluster['tls-server-name'] = 'kube.example.test';
    const credential = { kubeconfig: JSON.stringify(named), origins: [server] };
    expect(await probe({ ...options, credential })).toMatchObject({ reachable: true });
  });

  test('nothing is sent where the address is closed, or the secret is for another one', async () => {
    expect(await probe({ egress: new Egress([]) })).toMatchObject({ reachable: false, reason: 'refused' });
    expect(await probe({ credential: { origins: ['https://kube.example.test:6443'] } })).toMatchObject({
      reason: 'refused',
      detail: expect.stringContaining('may be sent to https://kube.example.test:6443 only'),
    });
    expect(fake.requests).toEqual([]);
  });

  test('a credential that cannot be one is refused by its field', async () => {
    const token = kubeconfig({ token: TOKEN });
    expect(await probe({ credential: { token } })).toMatchObject({
      reason: 'refused',
      detail: expect.stringMatching(/^`authSecret` .*goes into `kubeconfigSecret`$/),
    });
    expect(await probe({ spec: { caCert: '-----BEGIN CERTIFICATE-----\nx' } })).toMatchObject({ reason: 'refused' });
    const spec = { kubeconfigSecret: 'kube' };
    const { cert } = certificates.client;
    const user = { 'client-certificate-data': btoa(cert), 'client-key-data': btoa(certificates.server.key) };
    expect(await probe({ spec, credential: { kubeconfig: kubeconfig(user) } })).toMatchObject({
      reason: 'refused',
      detail: expect.stringContaining('client key of another certificate'),
    });
    expect(fake.requests).toEqual([]);
  });
});

describe('inspect', () => {
  test('shows nodes, quotas, limits and rights', async () => {
    const gpu = { cpu: '8', memory: '16393248Ki', 'nvidia.com/gpu': '2' };
    state.cluster.nodes = [
      aNode('plain', { 'kubernetes.io/os': 'linux', pool: 'evals' }),
      aNode('tainted', { pool: 'evals' }, { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }),
      aNode('cordoned', { pool: 'evals' }, { unschedulable: true }),
      aNode('elsewhere', { pool: 'web' }, {}, { capacity: gpu, allocatable: gpu }),
      aNode('pressed', { pool: 'evals' }, {}, { conditions: [{ type: 'DiskPressure', status: 'True' }] }),
    ];
    state.cluster.namespaced = {
      resourcequotas: [
        { metadata: { name: 'q' }, status: { hard: { 'limits.cpu': '4' }, used: { 'limits.cpu': '500m' } } },
      ],
      limitranges: [
        {
          metadata: { name: 'l' },
          spec: { limits: [{ type: 'Container', max: { memory: '1Gi' }, default: { cpu: '1' } }] },
        },
      ],
    };
    const found = await inspect({
      spec: { namespace: 'evals', nodeSelector: { pool: 'evals' }, runtimeClass: 'gvisor' },
    });
    expect(found).toMatchObject({
      kind: 'k8s',
      cluster: 'Kubernetes v1.34.4',
      capacity: { cpuMillicores: 4_000, memoryMb: 8_192 },
      allocatable: { cpuMillicores: 3_900, memoryMb: 7_168 },
      namespace: { name: 'evals', exists: true },
      runtimeClass: { name: 'gvisor', exists: true },
      quotas: [{ name: 'q', resource: 'limits.cpu', hard: '4', used: '500m' }],
      limits: [
        { name: 'l', type: 'Container', resource: 'memory', max: '1Gi' },
        { name: 'l', type: 'Container', resource: 'cpu', default: '1' },
      ],
      warnings: [],
    });
    expect(found.permissions).toEqual(
      [...JOB_RIGHTS, ...NETWORK_RIGHTS].map((right) => ({ action: rightText(right), allowed: true })),
    );
    expect(found.nodes?.map(({ name, status, schedulable }) => `${name} ${status} ${schedulable}`)).toEqual([
      'plain Ready true',
      'tainted Ready false',
      'cordoned Ready, cordoned false',
      'elsewhere Ready false',
      'pressed NotReady false',
    ]);
    expect(found.nodes?.[0]?.labels).toEqual({ os: 'linux', pool: 'evals', version: 'v1.34.4' });
    expect(found.nodes?.[1]?.taints).toEqual(['gpu=yes:NoSchedule']);
    expect(found.nodes?.[3]?.capacity).toEqual({ cpuMillicores: 8_000, memoryMb: 16_009, gpus: 2 });
    expect(found.nodes?.[4]?.pressure).toEqual(['DiskPressure']);
  });

  test.each([
    ['Exists without key', [{ operator: 'Exists' }], true],
    ['the key', [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }], true],
    ['the value', [{ key: 'gpu', value: 'yes' }], true],
    ['another value', [{ key: 'gpu', value: 'no' }], false],
    ['another effect', [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }], false],
  ])('a taint is tolerated as Kubernetes does: %s', async (_what, tolerations, schedulable) => {
    const taints = [
      { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
      { key: 'soft', effect: 'PreferNoSchedule' },
    ];
    state.cluster.nodes = [aNode('tainted', {}, { taints })];
    expect((await inspect({ spec: { tolerations } })).nodes).toMatchObject([{ schedulable }]);
  });

  test('reads all pages, shows the first nodes and counts all', async () => {
    state.cluster.nodes = Array.from({ length: 250 }, (_, at) => aNode(`node-${at}`));
    const found = await inspect();
    expect(found).toMatchObject({ nodeCount: 250, capacity: { cpuMillicores: 1_000_000 }, warnings: [] });
    expect(found.nodes).toHaveLength(200);
    const pages = fake.requests.filter(({ path }) => path === '/api/v1/nodes').map(({ query }) => query.toString());
    expect(pages).toEqual(['limit=100', 'limit=100&continue=100', 'limit=100&continue=200']);
  });

  test('begins a list anew that expired between two pages, once', async () => {
    const expired = failure(410, 'Expired', 'The provided continue parameter is too old');
    const page = { status: 200, body: { items: [aNode('early')], metadata: { continue: 'x' } } };
    fake.script('GET /api/v1/nodes', page, expired, { status: 200, body: { items: [aNode('late')], metadata: {} } });
    expect((await inspect()).nodes).toMatchObject([{ name: 'late' }]);
    fake.script('GET /api/v1/nodes', page, expired);
    expect(await inspect()).toMatchObject({ warnings: ['nodes: it answers 410 Expired'] });
  });

  test('names what is not there, and the rights that are lacking', async () => {
    state.accounts[TOKEN] = {
      user: USER,
      rights: ['get namespaces', 'get runtimeclasses', 'create jobs', 'get pods/log'],
    };
    const { warnings, permissions, ...found } = await inspect({
      spec: { namespace: 'nope', runtimeClass: 'kata', gpu: 1 },
    });
    expect(found).toEqual({
      kind: 'k8s',
      cluster: 'Kubernetes v1.34.4',
      namespace: { name: 'nope', exists: false },
      runtimeClass: { name: 'kata', exists: false },
    });
    expect(permissions?.filter(({ allowed }) => allowed).map(({ action }) => action)).toEqual([
      'create jobs.batch',
      'get pods/log',
    ]);
    expect(warnings.toSorted()).toEqual([
      'limits: the account may not do that (403)',
      'nodes: the account may not do that (403)',
      'quotas: the account may not do that (403)',
      'there is no namespace nope',
      'there is no runtime class kata',
      expect.stringMatching(
        /^to run cases without network in namespace nope, the account lacks: create networkpolicies/,
      ),
      expect.stringMatching(/^to run jobs in namespace nope, the account lacks: get jobs.batch, .*, list events$/),
    ]);
  });

  test('warns where no node takes its jobs', async () => {
    state.cluster.nodes = [aNode('node-1')];
    expect((await inspect({ spec: { gpu: 2 } })).warnings).toEqual([
      '`gpu` asks for 2, and the most that one node has is 0',
    ]);
    expect((await inspect({ spec: { nodeSelector: { disk: 'ssd' } } })).warnings).toEqual([
      expect.stringMatching(/^no node takes jobs/),
    ]);
  });

  test.each<[string, Script]>([
    ['hangs', 'hang'],
    ['is dropped', 'reset'],
    ['is a page', { status: 200, body: '<html>' }],
    ['is no list', { status: 200, body: { items: 'many' } }],
    ['is a fault', failure(500, 'InternalError', 'x')],
  ])('a part that %s is a warning, and the rest is there', async (_what, script) => {
    fake.script('GET /api/v1/nodes', script);
    const found = await inspect({ timeoutMs: script === 'hang' ? 1_000 : 5_000 });
    expect(found).toMatchObject({ namespace: { exists: true }, warnings: [expect.stringMatching(/^nodes: /)] });
    expect(found.nodes).toBeUndefined();
  });

  test('throws where the first answer fails', async () => {
    fake.script('GET /version', failure(401, 'Unauthorized', 'Unauthorized'));
    await expect(inspect()).rejects.toMatchObject({ name: 'ClusterFailure', reason: 'auth' });
  });

  test('text of the cluster is one line without controls', async () => {
    state.cluster.nodes = [aNode(`n\n\u001b[31m\u202e${'x'.repeat(300)}`, { 'kubernetes.io/os': 'a\u0007b' })];
    const [node] = (await inspect()).nodes ?? [];
    expect(`${node?.name}${node?.labels.os}`).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(node?.name.length).toBeLessThanOrEqual(100);
  });
});
