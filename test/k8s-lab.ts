import { createCluster } from '../backends/cluster.js';
import type { ClusterClient } from '../backends/cluster-client.js';
import { Egress } from '../backends/egress/guard.js';
import { makeCertificates } from '../dev/fake-k8s/certificates.js';
import type { Account } from '../dev/fake-k8s/fake-access.js';
import { FakeK8s } from '../dev/fake-k8s/fake-k8s.js';
import type { Seed } from '../dev/fake-k8s/fake-seed.js';
import { parseAllowList } from '../policy/addresses.js';
import type { BoundCredential } from '../secrets/cluster-credential.js';
import { aK8sRuntime, PATIENCE } from './builders.js';

export const TOKEN = 'canary-token';
export const USER = 'system:serviceaccount:evals:everdict';
const onLoopback = new Egress(parseAllowList('127.0.0.0/8').rules);

/** In what a look differs from one with a token, as a runtime of the fake's address. */
export interface Look {
  spec?: object;
  credential?: Partial<BoundCredential>;
  egress?: Egress;
  timeoutMs?: number;
}

export const aNode = (name: string, labels: Record<string, string> = {}, spec: object = {}, status: object = {}) => ({
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
    ...status,
  },
});

const aCluster = (): Seed => ({
  version: 'v1.34.4',
  nodes: [aNode('node-1')],
  namespaces: ['default', 'evals'],
  namespaced: {},
  runtimeClasses: [{ metadata: { name: 'gvisor' } }],
});

/** A fake Kubernetes with an account or two, and looks at it. */
export async function openK8sLab() {
  const certificates = makeCertificates({ name: 'kube.example.test' });
  const cluster = aCluster();
  const accounts: Record<string, Account> = {};
  const certificateAccount = { user: 'dispatcher', rights: ['*'] };
  const fake = await FakeK8s.start({ certificates, cluster, accounts, certificateAccount });

  async function look<Found>(
    { spec = {}, credential, egress = onLoopback, timeoutMs = 5_000 }: Look,
    use: (cluster: ClusterClient, signal: AbortSignal) => Promise<Found>,
  ): Promise<Found> {
    const runtime = aK8sRuntime({ server: fake.url, authSecret: 'kube', caCert: certificates.ca, ...spec });
    if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
    const path = runtime.kubeconfigSecret ? 'kubeconfigSecret' : 'authSecret';
    const bound = { name: 'kube', path, token: TOKEN, origins: [fake.url], version: 1, ...credential } as const;
    const looking = createCluster(runtime, bound, {
      deployment: 'dep',
      egress,
      nomadConnections: 1,
      patience: PATIENCE,
    }).client;
    try {
      return await use(looking, AbortSignal.timeout(timeoutMs));
    } finally {
      await looking.close();
    }
  }

  function reset(): void {
    fake.reset();
    Object.assign(cluster, aCluster());
    accounts[TOKEN] = { user: USER, rights: ['*'] };
  }
  reset();

  return {
    fake,
    certificates,
    cluster,
    accounts,
    reset,
    probe: (options: Look = {}) => look(options, (looking, signal) => looking.probe(signal)),
    inspect: (options: Look = {}) => look(options, (looking, signal) => looking.inspect(signal)),
    kubeconfig: (user: object, server = fake.url): string =>
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': btoa(certificates.ca) } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'evals' } }],
        users: [{ name: 'u', user }],
        'current-context': 'x',
      }),
  };
}
