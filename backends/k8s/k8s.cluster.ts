import type { Inspection, ProbeAnswer } from '../../contracts/inspection.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { type ClusterClient, ClusterFailure } from '../cluster-client.js';
import type { Look } from './k8s.client.js';
import { doubtsOf } from './k8s.doubts.js';
import { identify, type K8sIdentity } from './k8s.identity.js';
import { K8sInspector } from './k8s.inspect.js';
import type { K8sLink } from './k8s.link.js';

const PROBE_BYTES = 2 ** 20;
/** Two thousand nodes and more. */
const INSPECTION_BYTES = 32 * 2 ** 20;

/** Looks at a Kubernetes cluster. */
export class K8sCluster implements ClusterClient {
  constructor(
    private readonly spec: K8sRuntimeSpec,
    private readonly link: K8sLink,
    private readonly deployment: string,
  ) {}

  async probe(signal: AbortSignal): Promise<ProbeAnswer> {
    try {
      const { client, namespace } = await this.link.connect(signal);
      const look: Look = { signal, budget: { left: PROBE_BYTES } };
      const identity = await identify(client, namespace, look);
      const account = identity.account === undefined ? [] : [`as ${identity.account}`];
      const met = [describe(identity), `namespace ${namespace}`, ...account].join(', ');
      const doubts = await doubtsOf(this.spec, namespace, client, look);
      const [first] = doubts;
      if (!first) return { reachable: true, detail: met };
      return { reachable: false, detail: [met, ...doubts.map(({ text }) => text)].join('; '), reason: first.reason };
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return { reachable: false, detail: error.message, reason: error.reason };
    }
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const { client, namespace } = await this.link.connect(signal);
    const look: Look = { signal, budget: { left: INSPECTION_BYTES } };
    const identity = await identify(client, namespace, look);
    const found = await new K8sInspector(this.spec, this.deployment, namespace, client, look).inspect();
    return { kind: 'k8s', cluster: describe(identity), ...found };
  }

  close(): Promise<void> {
    return this.link.close();
  }
}

const describe = ({ version }: K8sIdentity): string => `Kubernetes ${version ?? ''}`.trim();
