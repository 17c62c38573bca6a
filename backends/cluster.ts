import type { K8sRuntimeSpec, NomadRuntimeSpec } from '../contracts/runtime.js';
import type { ClusterCredential } from '../secrets/cluster-credential.js';
import { type ClusterClient, ClusterFailure } from './cluster-client.js';
import type { Egress } from './egress/guard.js';
import { NomadClient } from './nomad/nomad.client.js';
import { NomadCluster } from './nomad/nomad.cluster.js';

export interface ClusterOptions {
  egress: Egress;
  /** Connections to one Nomad. */
  nomadConnections: number;
}

/** Makes what looks at the cluster of a runtime. Nothing is asked before its first call. */
export function createCluster(
  spec: NomadRuntimeSpec | K8sRuntimeSpec,
  credential: ClusterCredential | undefined,
  { egress, nomadConnections: connections }: ClusterOptions,
): ClusterClient {
  switch (spec.kind) {
    case 'nomad':
      return new NomadCluster(spec, new NomadClient(spec, { token: credential?.token, egress, connections }));
    case 'k8s':
      return unbuilt(spec.kind);
  }
}

function unbuilt(kind: string): ClusterClient {
  const detail = `this version cannot look at ${kind} clusters yet`;
  return {
    probe: async () => ({ reachable: false, reason: 'error', detail }),
    inspect: async () => {
      throw new ClusterFailure('error', detail);
    },
    close: async () => undefined,
  };
}
