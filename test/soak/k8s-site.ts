import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { FakeSite, type FakeSiteOptions } from '../../dev/fake-k8s/fake-site.js';
import { startStack } from '../../dev/launcher.js';
import { E2ePlatform, type Registered } from '../e2e/platform.js';

const TOKEN = 'soak-token';
const SECRET = 'kube';
/** What runs there at once is up to the platform. */
const ROOMY = { name: 'rack-1', capacity: { cpu: '1000', memory: '1000Gi', pods: '5000' } };

/** A platform and a Kubernetes, each as it is started by its users, with runtimes whose pods are processes of this machine. */
export class K8sSite {
  private constructor(
    readonly platform: E2ePlatform,
    readonly cluster: FakeSite,
    private readonly caCert: string,
  ) {}

  static async start(options: Partial<FakeSiteOptions> = {}, env: Record<string, string> = {}): Promise<K8sSite> {
    const certificates = makeCertificates();
    const accounts = { [TOKEN]: { user: 'everdict', rights: ['*'] } };
    const cluster = await FakeSite.start({ certificates, accounts, nodes: [ROOMY], ...options });
    try {
      const platform = await E2ePlatform.start((stack) => startStack({ ...stack, env: { ...stack.env, ...env } }));
      const secret = { use: 'cluster', value: TOKEN, origins: [cluster.fake.url] };
      await platform.ok('PUT', `/secrets/${SECRET}`, secret);
      return new K8sSite(platform, cluster, certificates.ca);
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await this.cluster.close();
  }

  /** A runtime of so many slots. */
  register(slots: number, command: string, cases: Record<string, unknown>[], runtime = {}): Promise<Registered> {
    const { url: server } = this.cluster.fake;
    const access = { server, caCert: this.caCert, authSecret: SECRET };
    return this.platform.register({
      runtime: { kind: 'k8s', ...access, image: 'busybox:1', maxConcurrent: slots, ...runtime },
      harness: { command },
      cases,
    });
  }

  /** Objects of ours that there still are. */
  get left(): string[] {
    return this.cluster.fake.ledger.left('app', 'everdict');
  }

  /** Jobs that were made twice, or of which two pods ran. */
  get doubles(): string[] {
    const { creations, starts } = this.cluster.fake.ledger;
    const jobs = [...creations].filter(([path]) => path.startsWith('jobs/'));
    const twice = (what: string, counts: Iterable<[string, number]>): string[] =>
      [...counts].flatMap(([name, count]) => (count > 1 ? [`${name} was ${what} ${count} times`] : []));
    return [...twice('made', jobs), ...twice('started', starts)];
  }

  /** Names of the jobs whose pods run now. */
  get running(): string[] {
    return this.cluster.fake.store
      .list('pods')
      .filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined && status.containerStatuses?.some(({ state }) => state.running),
      )
      .map(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] ?? metadata.name);
  }
}
