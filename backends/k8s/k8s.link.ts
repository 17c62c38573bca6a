import { ClusterFailure } from '../cluster-client.js';
import type { Egress } from '../egress/guard.js';
import type { K8sAccess } from './k8s.access.js';
import { K8sClient } from './k8s.client.js';

export interface Connected {
  client: K8sClient;
  namespace: string;
  /** Where it leads. */
  server: URL;
}

/** The way to one cluster, for everything that speaks to it for one runtime. */
export class K8sLink {
  private connected: Promise<Connected> | undefined;
  private readonly closing = new AbortController();
  /** Aborts when it is closed. */
  readonly ended = this.closing.signal;

  /** `open` finds how the cluster is spoken to; it is asked once, by the first call. */
  constructor(
    private readonly open: () => Promise<K8sAccess>,
    private readonly egress: Egress,
  ) {}

  /** A program that hands out the credential may hang: it is waited for as long as the cluster is. */
  async connect(signal: AbortSignal): Promise<Connected> {
    this.connected ??= this.open().then((access) => ({
      client: new K8sClient(access, this.egress, access.isOfHost && this.open),
      namespace: access.namespace,
      server: access.server,
    }));
    try {
      return await unlessAborted(this.connected, signal);
    } catch (error) {
      this.connected = undefined;
      throw error;
    }
  }

  /** Ends its connections at once. */
  async close(): Promise<void> {
    this.closing.abort();
    const connected = await this.connected?.catch(() => undefined);
    await connected?.client.close();
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
