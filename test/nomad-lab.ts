import { createCluster } from '../backends/cluster.js';
import type { ClusterClient } from '../backends/cluster-client.js';
import { Egress } from '../backends/egress/guard.js';
import { parseAllowList } from '../policy/addresses.js';
import { aNomadRuntime, PATIENCE } from './builders.js';
import { JOB_NAME } from './scripted-nomad.js';

export const MANAGEMENT = '11111111-1111-1111-1111-111111111111';
export const JOBS_ONLY = '22222222-2222-2222-2222-222222222222';
export const READER = '33333333-3333-3333-3333-333333333333';
export const EXPIRED = '44444444-4444-4444-4444-444444444444';
export const UNKNOWN = '55555555-5555-5555-5555-555555555555';

export const html = { 'content-type': 'text/html' };

export const node = (name: string, more: object = {}) => ({
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

export const allocation = (NodeID: string, ClientStatus: string, JobID = 'web') => ({
  ID: `${NodeID}-${ClientStatus}`,
  NodeID,
  JobID,
  ClientStatus,
  AllocatedResources: { Tasks: { t: { Cpu: { CpuShares: 500 }, Memory: { MemoryMB: 300 }, Devices: null } } },
});

export const OPTIONS = {
  version: '1.6.10',
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
  allocations: [
    allocation('a', 'running'),
    allocation('a', 'pending', JOB_NAME),
    allocation('a', 'complete', JOB_NAME),
  ],
};
export const JOB_RIGHTS = ['submit-job', 'read-job', 'list-jobs', 'read-logs', 'read-fs'];
export const ACL = {
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

const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => [{ address: '127.0.0.1', family: 4 }]);

/** With what `look` finds; its connections end with it. */
export async function looking<Found>(
  parts: Record<string, unknown>,
  token: string | undefined,
  look: (cluster: ClusterClient) => Promise<Found>,
  nomadConnections = 4,
): Promise<Found> {
  const spec = aNomadRuntime(parts);
  if (spec.kind !== 'nomad') throw new Error('the builder makes another kind');
  const bound = { name: 'nomad', path: 'authSecret' as const, origins: [], version: 1, token };
  const cluster = createCluster(spec, token === undefined ? undefined : bound, {
    ...{ deployment: 'dep', egress, nomadConnections, patience: PATIENCE },
  }).client;
  try {
    return await look(cluster);
  } finally {
    await cluster.close();
  }
}
