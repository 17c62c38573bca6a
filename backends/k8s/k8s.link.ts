import { ClusterFailure } from '../cluster-client.js';
import type { Egress } from '../egress/guard.js';
import { within } from '../time-limit.js';
import type { K8sAccess } from './k8s.access.js';
import { K8sClient } from './k8s.client.js';

/** For a program that hands out the credential. */
const OPENING_MS = 60_000;

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
  connect(signal: AbortSignal): Promise<Connected> {
    this.connected ??= this.opened();
    return unlessAborted(this.connected, signal);
  }

  /** Ends its connections at once. */
  async close(): Promise<void> {
    this.closing.abort();
    const connected = await this.connected?.catch(() => undefined);
    await connected?.client.close();
  }

  /** Tried again by the next call where it fails. Whoever gives up waiting leaves it to the others. */
  private async opened(): Promise<Connected> {
    try {
      const access = await within(OPENING_MS, this.open(), notInTime);
      const client = new K8sClient(access, this.egress, access.isOfHost && this.open);
      return { client, namespace: access.namespace, server: access.server };
    } catch (error) {
      this.connected = undefined;
      throw error;
    }
  }
}

const notInTime = (): ClusterFailure => new ClusterFailure('error', 'its credential was not given in time');

function unlessAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(notInTime());
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
