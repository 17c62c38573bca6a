import type { Inspection, ProbeAnswer } from '../../contracts/inspection.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { type ClusterClient, ClusterFailure } from '../cluster-client.js';
import type { Egress } from '../egress/guard.js';
import type { K8sAccess } from './k8s.access.js';
import { K8sClient, type Look } from './k8s.client.js';
import { identify, type K8sIdentity } from './k8s.identity.js';
import { K8sInspector } from './k8s.inspect.js';

const PROBE_BYTES = 2 ** 20;
/** Two thousand nodes and more. */
const INSPECTION_BYTES = 32 * 2 ** 20;

interface Connected {
  client: K8sClient;
  namespace: string;
}

/** Looks at a Kubernetes cluster. */
export class K8sCluster implements ClusterClient {
  private connected: Promise<Connected> | undefined;

  /** `open` finds how the cluster is spoken to; it is asked once, by the first call. */
  constructor(
    private readonly spec: K8sRuntimeSpec,
    private readonly open: () => Promise<K8sAccess>,
    private readonly egress: Egress,
  ) {}

  async probe(signal: AbortSignal): Promise<ProbeAnswer> {
    try {
      const { client, namespace } = await this.connect(signal);
      const look: Look = { signal, budget: { left: PROBE_BYTES } };
      const identity = await identify(client, namespace, look);
      const account = identity.account === undefined ? [] : [`as ${identity.account}`];
      return { reachable: true, detail: [describe(identity), `namespace ${namespace}`, ...account].join(', ') };
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return { reachable: false, detail: error.message, reason: error.reason };
    }
  }

  async inspect(signal: AbortSignal): Promise<Inspection> {
    const { client, namespace } = await this.connect(signal);
    const look: Look = { signal, budget: { left: INSPECTION_BYTES } };
    const identity = await identify(client, namespace, look);
    const found = await new K8sInspector(this.spec, namespace, client, look).inspect();
    return { kind: 'k8s', cluster: describe(identity), ...found };
  }

  async close(): Promise<void> {
    const connected = await this.connected?.catch(() => undefined);
    await connected?.client.close();
  }

  /** A program that hands out the credential may hang: it is waited for as long as the cluster is. */
  private async connect(signal: AbortSignal): Promise<Connected> {
    this.connected ??= this.open().then((access) => ({
      client: new K8sClient(access, this.egress),
      namespace: access.namespace,
    }));
    try {
      return await unlessAborted(this.connected, signal);
    } catch (error) {
      this.connected = undefined;
      throw error;
    }
  }
}

function unlessAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new ClusterFailure('error', 'its credential was not given in time'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

const describe = ({ version }: K8sIdentity): string => `Kubernetes ${version ?? ''}`.trim();
