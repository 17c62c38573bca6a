import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ProbeAnswer } from '../../contracts/inspection.js';
import { type Answer, FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { parseAllowList } from '../../policy/addresses.js';
import { aNomadRuntime } from '../../test/builders.js';
import { selfSigned } from '../../test/certificates.js';
import { createCluster } from '../cluster.js';
import type { ClusterClient } from '../cluster-client.js';
import { Egress } from '../egress/guard.js';

const MANAGEMENT = '11111111-1111-1111-1111-111111111111';
const JOBS_ONLY = '22222222-2222-2222-2222-222222222222';
const READER = '33333333-3333-3333-3333-333333333333';
const EXPIRED = '44444444-4444-4444-4444-444444444444';
const UNKNOWN = '55555555-5555-5555-5555-555555555555';

const node = (name: string, more: object = {}) => ({
  ID: name,
  Name: name,
  Datacenter: 'dc1',
  NodePool: 'default',
  NodeClass: '',
  Version: '1.6.10',
  Drain: false,
  Status: 'ready',
  SchedulingEligibility: 'eligible',
  Drivers: { docker: { Detected: true, Healthy: true }, exec: { Detected: false, Healthy: false } },
  NodeResources: { Cpu: { CpuShares: 5_000 }, Memory: { MemoryMB: 8_000 }, Devices: null },
  ...more,
});

const allocation = (NodeID: string, ClientStatus: string) => ({
  ID: `${NodeID}-${ClientStatus}`,
  NodeID,
  ClientStatus,
  AllocatedResources: { Tasks: { t: { Cpu: { CpuShares: 500 }, Memory: { MemoryMB: 300 }, Devices: null } } },
});

const OPTIONS = {
  nodes: [
    node('a'),
    node('b', {
      Datacenter: 'dc2',
      Drivers: null,
      NodeResources: {
        Cpu: { CpuShares: 3_000 },
        Memory: { MemoryMB: 4_000 },
        Devices: [{ Vendor: 'nvidia', Type: 'gpu', Name: 'x', Instances: [{ Healthy: true }, { Healthy: false }] }],
      },
    }),
    node('c', { Status: 'down' }),
  ],
  allocations: [allocation('a', 'running'), allocation('a', 'pending'), allocation('a', 'complete')],
};
const JOB_RIGHTS = ['submit-job', 'read-job', 'list-jobs', 'read-logs', 'read-fs'];
const ACL = {
  tokens: {
    [MANAGEMENT]: { type: 'management' as const },
    [JOBS_ONLY]: { policies: ['jobs'] },
    [READER]: { policies: ['reader'] },
    [EXPIRED]: { expires: '2020-01-01T00:00:00Z' },
  },
  policies: {
    jobs: { Namespaces: [{ Name: 'eval-*', Capabilities: JOB_RIGHTS }] },
    reader: {
      Namespaces: [
        { Name: '*', Capabilities: JOB_RIGHTS },
        { Name: 'eval-*', Capabilities: ['list-jobs', 'read-job'] },
      ],
      Node: { Policy: 'read' },
      Agent: { Policy: 'read' },
    },
  },
};

let open: FakeNomad;
let guarded: FakeNomad;
beforeAll(async () => {
  open = await FakeNomad.start(OPTIONS);
  guarded = await FakeNomad.start({ ...OPTIONS, acl: ACL, namespaces: ['default', 'eval-1'] });
});
afterEach(() => {
  open.reset();
  guarded.reset();
});
afterAll(() => Promise.all([open.stop(), guarded.stop()]));

const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => [{ address: '127.0.0.1', family: 4 }]);

/** With what `look` finds; its connections end with it. */
async function looking<Found>(
  parts: Record<string, unknown>,
  token: string | undefined,
  look: (cluster: ClusterClient) => Promise<Found>,
  nomadConnections = 4,
): Promise<Found> {
  const spec = aNomadRuntime(parts);
  if (spec.kind !== 'nomad') throw new Error('the builder makes another kind');
  const bound = { name: 'nomad', path: 'authSecret' as const, origins: [], version: 1, token };
  const cluster = createCluster(spec, token === undefined ? undefined : bound, { egress, nomadConnections });
  try {
    return await look(cluster);
  } finally {
    await cluster.close();
  }
}

const probe = (addr: string, token?: string, parts: object = {}, withinMs = 5_000): Promise<ProbeAnswer> =>
  looking({ addr, ...parts }, token, (cluster) => cluster.probe(AbortSignal.timeout(withinMs)));

test('a Nomad that answers is named with its version and the agent, and gives no reason', async () => {
  expect(await probe(open.url)).toEqual({ reachable: true, detail: 'Nomad 1.6.10, agent rack-1.global' });
});

test('a path of the address stays, as behind a proxy', async () => {
  open.script('/nomad/v1/agent/self', { status: 200, body: { member: { Name: 'behind' } } });
  expect(await probe(`${open.url}/nomad/`)).toEqual({ reachable: true, detail: 'Nomad, agent behind' });
});

test.each([
  [MANAGEMENT, { reachable: true }],
  [READER, { reachable: true }],
  [JOBS_ONLY, { reachable: true, detail: 'Nomad takes the ACL token, which may not read the agent' }],
  [EXPIRED, { reason: 'auth', detail: 'its ACL token has expired (500)' }],
  [UNKNOWN, { reason: 'auth', detail: 'it does not know the ACL token (403)' }],
  ['junk', { reason: 'auth', detail: 'the credential is no ACL token (500)' }],
  [undefined, { reason: 'auth', detail: 'it asks for an ACL token: name a secret with one in `authSecret` (403)' }],
])('token %s', async (token, expected) => {
  expect(await probe(guarded.url, token)).toMatchObject(expected);
});

const html = { 'content-type': 'text/html' };
const redirect = (status: number, location: string): Answer => ({ status, body: '', headers: { location } });
const ANSWERS: [string, Answer, Partial<ProbeAnswer>][] = [
  ['403', { status: 403, body: 'Permission denied' }, { reason: 'auth' }],
  ['500', { status: 500, body: 'No cluster leader' }, { reason: 'error', detail: 'Nomad has no leader now (500)' }],
  ['500 of anything', { status: 500, body: 'secret \u001b[31m' }, { reason: 'error', detail: 'it answers 500' }],
  ['429', { status: 429, body: 'Your IP is issuing too many concurrent connections, please' }, { reason: 'error' }],
  ['a login of a proxy', { status: 401, body: '' }, { reason: 'auth' }],
  ['another site', { status: 200, body: '<html>', headers: html }, { reason: 'error' }],
  ['JSON of something else', { status: 200, body: { ok: true } }, { reason: 'error' }],
  ['a list', { status: 200, body: [] }, { reason: 'error' }],
  ['a page that is missing', { status: 404, body: 'no', headers: html }, { reason: 'error' }],
  ['no end', 'endless', { reason: 'error', detail: 'it answers with more than 16 MB' }],
  ['a cut', 'reset', { reason: 'unreachable' }],
  [
    '301',
    redirect(301, 'http://169.254.169.254/latest?x=1'),
    { detail: 'unexpected redirect to http://169.254.169.254' },
  ],
  ['302 to TLS', redirect(302, 'https://nomad.test/'), { detail: 'unexpected redirect to https://nomad.test' }],
  [
    '307 to another port',
    redirect(307, 'http://127.0.0.1:1/'),
    { detail: 'unexpected redirect to http://127.0.0.1:1' },
  ],
  ['308 to no address', redirect(308, 'http://['), { detail: 'unexpected redirect to no address' }],
];

test.each(ANSWERS)('an answer with %s is told in our words, and asked for once', async (_title, answer, expected) => {
  open.script('/v1/agent/self', answer);
  expect(await probe(open.url)).toMatchObject({ reachable: false, ...expected });
  expect(open.requests.length).toBe(1);
});

test.each<[string, Answer]>([
  ['does not answer', 'hang'],
  ['answers a byte at a time', 'drip'],
])('one that %s is given up in time', async (_title, answer) => {
  open.script('/v1/agent/self', answer);
  expect(await probe(open.url, undefined, {}, 200)).toEqual({
    reachable: false,
    reason: 'unreachable',
    detail: 'it did not answer in time',
  });
});

test('a closed port, another service and a plain port asked for TLS are told apart', async () => {
  const other = createServer((socket) => socket.on('data', () => socket.end('E\0\0\0invalid startup packet')));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await probe(`http://127.0.0.1:${port}`)).toMatchObject({
    reason: 'error',
    detail: expect.stringMatching(/HTTP/),
  });
  expect(await probe(open.url.replace('http:', 'https:'))).toMatchObject({
    reason: 'error',
    detail: expect.stringMatching(/does not speak TLS/),
  });
  other.close();
  await once(other, 'close');
  expect(await probe(`http://127.0.0.1:${port}`)).toMatchObject({
    reason: 'unreachable',
    detail: 'nothing listens there (ECONNREFUSED)',
  });
});

test('a certificate is taken only for its name, in its time and of its authority', async () => {
  const good = selfSigned('DNS:nomad.test,IP:127.0.0.1');
  const late = selfSigned('IP:127.0.0.1', { expired: true });
  const [nomad, expired] = await Promise.all([FakeNomad.start({ tls: good }), FakeNomad.start({ tls: late })]);
  try {
    const [byName, byOther] = ['nomad.test', 'other.test'].map((name) => nomad.url.replace('127.0.0.1', name));
    expect(await probe(nomad.url)).toMatchObject({ reason: 'error', detail: expect.stringMatching(/self-signed/) });
    expect(await probe(nomad.url, undefined, { caCert: good.cert })).toMatchObject({ reachable: true });
    expect(await probe(byName ?? '', undefined, { caCert: good.cert })).toMatchObject({ reachable: true });
    expect(await probe(byOther ?? '', undefined, { caCert: good.cert })).toMatchObject({
      reason: 'error',
      detail: expect.stringMatching(/of another name/),
    });
    expect(await probe(expired.url, undefined, { caCert: late.cert })).toMatchObject({
      reason: 'error',
      detail: expect.stringMatching(/has expired/),
    });
  } finally {
    await Promise.all([nomad.stop(), expired.stop()]);
  }
});

const inspect = (addr: string, token?: string, parts: object = {}) =>
  looking({ addr, ...parts }, token, (cluster) => cluster.inspect(AbortSignal.timeout(5_000)));

test('an inspection counts what nodes have and what is allocated', async () => {
  expect(await inspect(open.url)).toEqual({
    kind: 'nomad',
    cluster: 'Nomad 1.6.10',
    nodes: [
      {
        name: 'a',
        status: 'ready',
        schedulable: true,
        labels: { datacenter: 'dc1', pool: 'default', version: '1.6.10' },
        drivers: ['docker'],
        capacity: { cpuMhz: 5_000, memoryMb: 8_000 },
        allocated: { cpuMhz: 1_000, memoryMb: 600 },
        running: 2,
      },
      expect.objectContaining({ name: 'b', drivers: [], capacity: { cpuMhz: 3_000, memoryMb: 4_000, gpus: 1 } }),
      expect.objectContaining({ name: 'c', status: 'down', schedulable: false }),
    ],
    capacity: { cpuMhz: 8_000, memoryMb: 12_000, gpus: 1 },
    allocated: { cpuMhz: 1_000, memoryMb: 600 },
    running: 2,
    datacenters: ['dc1', 'dc2'],
    namespace: { name: 'default', exists: true },
    warnings: [],
  });
});

test('it takes no more connections than it may', async () => {
  const inspection = (cluster: ClusterClient) => cluster.inspect(AbortSignal.timeout(5_000));
  expect((await looking({ addr: open.url }, undefined, inspection, 1)).warnings).toEqual([]);
  expect(open.connections).toBe(1);
});

test('it warns of what keeps jobs of the runtime from a place', async () => {
  const { warnings } = await inspect(open.url, undefined, {
    namespace: 'nowhere',
    datacenters: ['dc2', 'dc9'],
    gpu: 2,
  });
  expect(warnings).toEqual([
    'there is no namespace nowhere, or the credential may not see it',
    'no node is in datacenter dc9',
    'no node has a healthy driver docker',
    'a job takes 2 GPUs, and the most that one node has is 1',
  ]);
});

test('after the first answer what cannot be read is a warning, and the rest is there', async () => {
  open.script('/v1/nodes', { status: 403, body: 'Permission denied' });
  open.script('/v1/allocations', 'reset');
  open.script('/v1/namespace/default', { status: 200, body: '<html>', headers: html });
  const found = await inspect(open.url);
  expect(found).toEqual({ kind: 'nomad', cluster: 'Nomad 1.6.10', warnings: expect.any(Array) });
  expect(new Set(found.warnings.map((warning) => warning.split(':')[0]))).toEqual(
    new Set(['nodes', 'allocations', 'namespace']),
  );

  open.script('/v1/agent/self', { status: 500, body: 'No cluster leader' });
  await expect(inspect(open.url)).rejects.toMatchObject({ reason: 'error' });
});

test('a cluster that answers with too much costs what it answered, and no more', async () => {
  open.script('/v1/nodes', { status: 200, body: Array.from({ length: 30_000 }, (_, index) => node(`n${index}`)) });
  const page = Array.from({ length: 500 }, () => ({ ...allocation('a', 'running'), Pad: 'x'.repeat(20_000) }));
  open.script('/v1/allocations', { status: 200, body: page, headers: { 'x-nomad-nexttoken': 'on' } });
  const { warnings } = await inspect(open.url);
  expect(new Set(warnings)).toEqual(
    new Set(['nodes: there are more than 20000', 'allocations: its answers are longer than is read of one cluster']),
  );
  expect(open.requests.filter(({ path }) => path === '/v1/allocations').length).toBeLessThan(5);
});

test('it tells what a token may do in the namespace, an exact rule before a pattern', async () => {
  const allowed = async (token: string, namespace: string) => {
    const { permissions, warnings } = await inspect(guarded.url, token, { namespace });
    return { may: permissions?.filter((one) => one.allowed).map(({ action }) => action), warnings };
  };
  const all = [...JOB_RIGHTS, 'node:read', 'agent:read'];
  expect((await allowed(MANAGEMENT, 'eval-1')).may).toEqual(all);
  expect((await allowed(READER, 'default')).may).toEqual(all);
  expect((await allowed(READER, 'eval-1')).may).toEqual(['read-job', 'list-jobs', 'node:read', 'agent:read']);
  expect(await allowed(JOBS_ONLY, 'eval-1')).toEqual({
    may: JOB_RIGHTS,
    warnings: [
      'its version is not known: the ACL token lacks agent:read',
      'nodes: the ACL token may not do this (403)',
      'the ACL token lacks node:read, agent:read in namespace eval-1',
    ],
  });
});

test('the token goes in its header, and nowhere else', async () => {
  await inspect(guarded.url, MANAGEMENT);
  expect(guarded.requests.every(({ token }) => token === MANAGEMENT)).toBe(true);
  expect(guarded.requests.some(({ path, query }) => `${path}?${query}`.includes(MANAGEMENT))).toBe(false);
});
