import type { Script } from '../../dev/fake-k8s/fake-k8s.js';
import { failure } from '../../dev/fake-k8s/status.js';
import { aNode, openK8sLab, TOKEN, USER } from '../../test/k8s-lab.js';
import { JOB_RIGHTS, NETWORK_RIGHTS, rightText } from './k8s.rights.js';

let lab: Awaited<ReturnType<typeof openK8sLab>>;
beforeAll(async () => {
  lab = await openK8sLab();
});
beforeEach(() => lab.reset());
afterAll(() => lab.fake.close());

test('shows nodes, quotas, limits and rights', async () => {
  const gpu = { cpu: '8', memory: '16393248Ki', 'nvidia.com/gpu': '2' };
  lab.cluster.nodes = [
    aNode('plain', { 'kubernetes.io/os': 'linux', pool: 'evals' }),
    aNode('tainted', { pool: 'evals' }, { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }),
    aNode('cordoned', { pool: 'evals' }, { unschedulable: true }),
    aNode('elsewhere', { pool: 'web' }, {}, { capacity: gpu, allocatable: gpu }),
    aNode('pressed', { pool: 'evals' }, {}, { conditions: [{ type: 'DiskPressure', status: 'True' }] }),
  ];
  lab.cluster.namespaced = {
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
  const found = await lab.inspect({
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

test('counts our jobs that are not over, and names those that are suspended, and quotas that are used up', async () => {
  const aJob = (name: string, parts: object = {}) => ({
    metadata: { name, uid: name, labels: { app: 'everdict', 'everdict.dev/deployment': 'dep' } },
    ...parts,
  });
  lab.cluster.namespaced = {
    jobs: [
      aJob('runs'),
      aJob('waits', { spec: { suspend: true } }),
      aJob('ended', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
    ],
    resourcequotas: [
      {
        metadata: { name: 'q' },
        status: { hard: { 'limits.memory': '1Gi', pods: '9' }, used: { 'limits.memory': '1024Mi', pods: '1' } },
      },
    ],
  };
  expect(await lab.inspect()).toMatchObject({
    ours: 2,
    warnings: ['jobs of ours that are suspended (1): waits', 'the quota q is used up: 1024Mi of 1Gi limits.memory'],
  });
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
  lab.cluster.nodes = [aNode('tainted', {}, { taints })];
  expect((await lab.inspect({ spec: { tolerations } })).nodes).toMatchObject([{ schedulable }]);
});

test('reads all pages, shows the first nodes and counts all', async () => {
  lab.cluster.nodes = Array.from({ length: 250 }, (_, at) => aNode(`node-${at}`));
  const found = await lab.inspect();
  expect(found).toMatchObject({ nodeCount: 250, capacity: { cpuMillicores: 1_000_000 }, warnings: [] });
  expect(found.nodes).toHaveLength(200);
  const pages = lab.fake.requests.filter(({ path }) => path === '/api/v1/nodes').map(({ query }) => query.toString());
  expect(pages).toEqual(['limit=100', 'limit=100&continue=100', 'limit=100&continue=200']);
});

test('begins a list anew that expired between two pages, once', async () => {
  const expired = failure(410, 'Expired', 'The provided continue parameter is too old');
  const page = { status: 200, body: { items: [aNode('early')], metadata: { continue: 'x' } } };
  lab.fake.script('GET /api/v1/nodes', page, expired, { status: 200, body: { items: [aNode('late')], metadata: {} } });
  expect((await lab.inspect()).nodes).toMatchObject([{ name: 'late' }]);
  lab.fake.script('GET /api/v1/nodes', page, expired, page, expired);
  expect(await lab.inspect()).toMatchObject({
    nodes: [{ name: 'early' }],
    warnings: [expect.stringMatching(/^only the first 1 of nodes were read: it answers 410 Expired$/)],
  });
});

test('names what is not there, and the rights that are lacking', async () => {
  lab.accounts[TOKEN] = {
    user: USER,
    rights: ['get namespaces', 'get runtimeclasses', 'create jobs', 'get pods/log'],
  };
  const { warnings, permissions, ...found } = await lab.inspect({
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
    'jobs: the account may not list jobs.batch (403)',
    'limits: the account may not list limitranges (403)',
    'nodes: the account may not list nodes (403)',
    'quotas: the account may not list resourcequotas (403)',
    'there is no namespace nope',
    'there is no runtime class kata',
    expect.stringMatching(/^to run cases without network in namespace nope, the account lacks: create networkpolicies/),
    expect.stringMatching(/^to run jobs in namespace nope, the account lacks: get jobs.batch, .*, list events$/),
  ]);
});

test('warns where no node takes its jobs', async () => {
  lab.cluster.nodes = [aNode('node-1')];
  expect((await lab.inspect({ spec: { gpu: 2 } })).warnings).toEqual([
    '`gpu` asks for 2, and the most that one node has is 0',
  ]);
  expect((await lab.inspect({ spec: { nodeSelector: { disk: 'ssd' } } })).warnings).toEqual([
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
  lab.fake.script('GET /api/v1/nodes', script);
  const found = await lab.inspect({ timeoutMs: script === 'hang' ? 1_000 : 5_000 });
  expect(found).toMatchObject({ namespace: { exists: true }, warnings: [expect.stringMatching(/^nodes: /)] });
  expect(found.nodes).toBeUndefined();
});

test('throws where the first answer fails', async () => {
  lab.fake.script('GET /version', failure(401, 'Unauthorized', 'Unauthorized'));
  await expect(lab.inspect()).rejects.toMatchObject({ name: 'ClusterFailure', reason: 'auth' });
});

test('text of the cluster is one line without controls', async () => {
  lab.cluster.nodes = [aNode(`n\n\u001b[31m\u202e${'x'.repeat(300)}`, { 'kubernetes.io/os': 'a\u0007b' })];
  const [node] = (await lab.inspect()).nodes ?? [];
  expect(`${node?.name}${node?.labels.os}`).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(node?.name.length).toBeLessThanOrEqual(100);
});

describe('a hostile cluster', () => {
  const listed = (items: string, metadata = '{}') => ({
    status: 200,
    body: `{"items":[${items}],"metadata":${metadata}}`,
    headers: { 'content-type': 'application/json' },
  });
  const node = JSON.stringify(aNode('n'));

  test.each<[string, Script, RegExp]>([
    ['a page of very many items', listed(`${'{},'.repeat(380_000)}{}`), /^nodes: .*JSON$/],
    ['very many small parts', listed(`${'{},'.repeat(3_000_000)}{}`), /^nodes: it answers with more than is read/],
    ['very deep lists', { status: 200, body: '['.repeat(4_000_000) }, /^nodes: it answers with more than is read/],
    [
      'pages without end',
      listed(`${`${node},`.repeat(99)}${node}`, '{"continue":"x"}'),
      /^only the first 5000 of nodes/,
    ],
    [
      'pages full of what nobody asked for',
      listed(`{"metadata":{"name":"n"},"more":"${'x'.repeat(12 * 2 ** 20)}"}`, '{"continue":"x"}'),
      /^only the first 2 of nodes were read: its answers are longer/,
    ],
  ])('that answers with %s costs a warning', async (_what, script, warning) => {
    lab.fake.script('GET /api/v1/nodes', script);
    const { warnings } = await lab.inspect({ timeoutMs: 15_000 });
    expect(warnings).toContainEqual(expect.stringMatching(warning));
  });
});
