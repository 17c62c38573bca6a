import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import {
  ACL,
  allocation,
  html,
  JOB_RIGHTS,
  JOBS_ONLY,
  looking,
  MANAGEMENT,
  node,
  OPTIONS,
  READER,
} from '../../test/nomad-lab.js';
import type { ClusterClient } from '../cluster-client.js';

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
    ours: 1,
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

test('a list that is too long is not shown, and the rest is there', async () => {
  open.script('/v1/nodes', { status: 200, body: Array.from({ length: 30_000 }, (_, index) => node(`n${index}`)) });
  const { warnings, running } = await inspect(open.url);
  expect([warnings, running]).toEqual([['nodes: there are more than 20000'], 2]);
});

test('a cluster that answers with too much costs what it answered, and no more', async () => {
  const page = Array.from({ length: 500 }, () => ({ ...allocation('a', 'running'), Pad: 'x'.repeat(20_000) }));
  open.script('/v1/allocations', { status: 200, body: page, headers: { 'x-nomad-nexttoken': 'on' } });
  const { warnings } = await inspect(open.url);
  expect(warnings).toEqual(['allocations: its answers are longer than is read of one cluster']);
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
