import type { ClusterClient } from '../../backends/cluster-client.js';
import { ClusterFailure } from '../../backends/cluster-client.js';
import type { Inspection, ProbeAnswer } from '../../contracts/inspection.js';

interface Parts {
  /** Whether a worker takes local jobs. */
  isServed(): Promise<boolean>;
  /** The id of the host whose workers may. */
  hostId(): Promise<string | undefined>;
}

/** Looks at the host of local jobs, as far as its workers are seen from here. */
export class LocalCluster implements ClusterClient {
  constructor(private readonly parts: Parts) {}

  async probe(): Promise<ProbeAnswer> {
    try {
      const host = await this.servingHost();
      return { reachable: true, detail: `a worker on ${host} takes local jobs` };
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return { reachable: false, detail: error.message, reason: error.reason };
    }
  }

  async inspect(): Promise<Inspection> {
    const host = await this.servingHost();
    return { kind: 'local', cluster: `processes on ${host}`, warnings: ['what its host has is not known to the API'] };
  }

  async close(): Promise<void> {}

  private async servingHost(): Promise<string> {
    let isServed: boolean;
    try {
      isServed = await this.parts.isServed();
    } catch (cause) {
      throw new ClusterFailure('unreachable', 'Temporal does not say whether a worker takes local jobs', { cause });
    }
    if (!isServed) {
      const detail = 'no worker takes local jobs: start one with EVERDICT_ALLOW_LOCAL_RUNTIMES=1';
      throw new ClusterFailure('unreachable', detail);
    }
    return (await this.parts.hostId()) ?? 'a host';
  }
}
