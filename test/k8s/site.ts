import { randomBytes } from 'node:crypto';
import type { Backend } from '../../backends/backend.js';
import { type Cluster, createCluster, type Patience } from '../../backends/cluster.js';
import { Egress } from '../../backends/egress/guard.js';
import { parseAllowList } from '../../policy/addresses.js';
import { aK8sRuntime, PATIENCE } from '../builders.js';
import { eventually } from '../eventually.js';
import { Admin, type Answer } from './admin.js';
import { documentedRules, type Rule } from './documented-role.js';

const { EVERDICT_TEST_KUBECONFIG: KUBECONFIG, EVERDICT_TEST_IMAGE } = process.env;

/** Has a shell, and the usual small programs. */
export const IMAGE = EVERDICT_TEST_IMAGE ?? 'busybox:1.37';
export const DEPLOYMENT = 'live';
const ACCOUNT = 'dispatcher';
const WHATEVER_IS_OURS = ['jobs', 'pods', 'secrets', 'networkpolicies'] as const;
const GROUPS = { jobs: '/apis/batch/v1', networkpolicies: '/apis/networking.k8s.io/v1', pods: '', secrets: '' };

/** Suites of a live cluster: skipped where none is named. */
export const describeLive = KUBECONFIG ? describe : describe.skip;

/** Whether the cluster has nodes with such labels. */
export async function hasNodes(labels: string): Promise<boolean> {
  if (!KUBECONFIG) return false;
  const admin = new Admin(KUBECONFIG);
  const nodes = await admin.items('/api/v1/nodes', labels);
  await admin.close();
  return nodes.length > 0;
}

export interface SiteOptions {
  /** Labels of the namespace. */
  labels?: Record<string, string>;
}

export interface BackendOptions {
  spec?: Record<string, unknown>;
  patience?: Partial<Patience>;
  token?: string;
}

/** A namespace of the cluster under test, with an account that has the documented rights there and no others. */
export class Site {
  private readonly clusters: Cluster[] = [];

  private constructor(
    readonly admin: Admin,
    readonly namespace: string,
    readonly token: string,
  ) {}

  static async open({ labels = {} }: SiteOptions = {}): Promise<Site> {
    if (!KUBECONFIG) throw new Error('EVERDICT_TEST_KUBECONFIG names no cluster');
    const admin = new Admin(KUBECONFIG);
    const name = `everdict-test-${randomBytes(4).toString('hex')}`;
    await admin.post('/api/v1/namespaces', { metadata: { name, labels: { 'everdict-test': 'true', ...labels } } });
    const namespaced = `/api/v1/namespaces/${name}`;
    await admin.post(`${namespaced}/serviceaccounts`, { metadata: { name: ACCOUNT } });
    // Pods use it, and are refused until the cluster has made it.
    await eventually('the default account', async () => {
      const { status } = await admin.ask('GET', `${namespaced}/serviceaccounts/default`);
      return status === 200;
    });
    await admin.post(rolePath(name), { metadata: { name: ACCOUNT }, rules: await documentedRules() });
    await admin.post(rolePath(name).replace(/roles$/, 'rolebindings'), {
      metadata: { name: ACCOUNT },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: ACCOUNT },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: name }],
    });
    return new Site(admin, name, await tokenOf(admin, name));
  }

  /** Of the core group, in the namespace. */
  path(resource: string): string {
    return `/api/v1/namespaces/${this.namespace}/${resource}`;
  }

  private pathOf(resource: keyof typeof GROUPS): string {
    const group = GROUPS[resource] || '/api/v1';
    return `${group}/namespaces/${this.namespace}/${resource}`;
  }

  jobs = (): string => this.pathOf('jobs');
  policies = (): string => this.pathOf('networkpolicies');

  /** From now on the account has these rights, and no others. */
  allow = (rules: Rule[]): Promise<unknown> => this.admin.patch(rolePath(this.namespace, ACCOUNT), { rules });

  /** Of the same account. */
  anotherToken = (): Promise<string> => tokenOf(this.admin, this.namespace);

  /** What a runtime of this namespace says. */
  runtime(spec: Record<string, unknown> = {}): Record<string, unknown> {
    const { server, ca } = this.admin;
    const address = { server, namespace: this.namespace, authSecret: 'kube', ...(ca && { caCert: ca }) };
    return { ...address, image: IMAGE, ...spec };
  }

  /** As a worker has it for one runtime. */
  cluster({ spec = {}, patience = {}, token = this.token }: BackendOptions = {}): Cluster {
    const { server } = this.admin;
    const runtime = aK8sRuntime(this.runtime(spec));
    if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
    const bound = { name: 'kube', path: 'authSecret' as const, origins: [server], version: 1, token };
    const cluster = createCluster(runtime, bound, {
      deployment: DEPLOYMENT,
      egress: new Egress(parseAllowList('0.0.0.0/0,::/0').rules),
      nomadConnections: 1,
      patience: { ...PATIENCE, ...patience },
    });
    this.clusters.push(cluster);
    return cluster;
  }

  backend(options: BackendOptions = {}): Backend {
    const { backend } = this.cluster(options);
    if (!backend) throw new Error('it has no backend');
    return backend;
  }

  /** What of ours is there, as `<resource>/<name>`. */
  async left(labels = 'app=everdict'): Promise<string[]> {
    const found = await Promise.all(
      WHATEVER_IS_OURS.map(async (resource) => {
        const items = await this.admin.items(this.pathOf(resource), labels);
        return items.map((item) => `${resource}/${nameOf(item)}`);
      }),
    );
    return found.flat();
  }

  /** Ends with nothing of ours in the namespace, and then without the namespace. */
  async close(): Promise<void> {
    await Promise.all(this.clusters.map(({ client }) => client.close()));
    const left = await this.left();
    const path = `/api/v1/namespaces/${this.namespace}`;
    await this.admin.remove(path);
    await this.admin.gone(path);
    await this.admin.close();
    expect(left).toEqual([]);
  }
}

const rolePath = (namespace: string, name = ''): string =>
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles${name && `/${name}`}`;

async function tokenOf(admin: Admin, namespace: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${ACCOUNT}/token`;
  const { status } = await admin.post(path, { spec: { expirationSeconds: 7_200 } });
  return (status as { token: string }).token;
}

export const nameOf = ({ metadata }: Answer): string => (metadata as { name: string }).name;
