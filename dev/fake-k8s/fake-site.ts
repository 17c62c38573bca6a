import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FakeK8s, type FakeK8sOptions } from './fake-k8s.js';
import { FakeKubelets, type KubeletsOptions } from './fake-kubelets.js';
import { NodeFaults } from './fake-node-faults.js';

export interface FakeSiteOptions extends FakeK8sOptions {
  kubelets?: Partial<KubeletsOptions>;
}

/** A fake Kubernetes whose pods run, as processes of this machine. */
export class FakeSite {
  readonly nodes: NodeFaults;

  private constructor(
    readonly fake: FakeK8s,
    readonly kubelets: FakeKubelets,
    private readonly root: string,
  ) {
    this.nodes = new NodeFaults(fake.cluster, kubelets);
    fake.logs = (pod, query) => kubelets.log(pod, query);
  }

  static async start(options: FakeSiteOptions): Promise<FakeSite> {
    const root = await mkdtemp(path.join(tmpdir(), 'fake-k8s-'));
    const fake = await FakeK8s.start(options);
    const { store, events } = fake.cluster;
    return new FakeSite(fake, new FakeKubelets(store, events, { root, ...options.kubelets }), root);
  }

  /** Ends every process. */
  async close(): Promise<void> {
    await this.kubelets.close();
    await this.fake.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
