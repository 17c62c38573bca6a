import type { K8sRuntimeSpec, NomadRuntimeSpec } from '../contracts/runtime.js';
import type { BoundCredential } from '../secrets/cluster-credential.js';
import type { ClusterClient } from './cluster-client.js';
import type { Egress } from './egress/guard.js';
import { type K8sPolicy, openAccess } from './k8s/k8s.access.js';
import { K8sCluster } from './k8s/k8s.cluster.js';
import { NomadClient } from './nomad/nomad.client.js';
import { NomadCluster } from './nomad/nomad.cluster.js';

export interface ClusterOptions {
  egress: Egress;
  /** Connections to one Nomad. */
  nomadConnections: number;
  /** What the operator allows of kubeconfigs. Absent: nothing. */
  kubeconfigs?: K8sPolicy;
}

const CLOSED: K8sPolicy = { allowAmbient: false, allowHost: false };

/** Makes what looks at the cluster of a runtime. Nothing is asked before its first call. */
export function createCluster(
  spec: NomadRuntimeSpec | K8sRuntimeSpec,
  credential: BoundCredential | undefined,
  { egress, nomadConnections: connections, kubeconfigs = CLOSED }: ClusterOptions,
): ClusterClient {
  switch (spec.kind) {
    case 'nomad':
      return new NomadCluster(spec, new NomadClient(spec, { token: credential?.token, egress, connections }));
    case 'k8s':
      return new K8sCluster(spec, () => openAccess(spec, credential, kubeconfigs), egress);
  }
}
