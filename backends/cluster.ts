import type { K8sRuntimeSpec, NomadRuntimeSpec } from '../contracts/runtime.js';
import type { BoundCredential } from '../secrets/cluster-credential.js';
import type { Backend } from './backend.js';
import type { ClusterClient } from './cluster-client.js';
import type { Egress } from './egress/guard.js';
import { type K8sPolicy, openAccess } from './k8s/k8s.access.js';
import { K8sBackend } from './k8s/k8s.backend.js';
import { K8sCluster } from './k8s/k8s.cluster.js';
import { K8sLink } from './k8s/k8s.link.js';
import { NomadBackend } from './nomad/nomad.backend.js';
import { NomadClient } from './nomad/nomad.client.js';
import { NomadCluster } from './nomad/nomad.cluster.js';

export interface ClusterOptions {
  /** First part of the names of its jobs. */
  deployment: string;
  egress: Egress;
  /** Connections to one Nomad. */
  nomadConnections: number;
  /** How long jobs may take to start. */
  patience: Patience;
  /** What the operator allows of kubeconfigs. Absent: nothing. */
  kubeconfigs?: K8sPolicy;
}

/** Beside the placement patience of a runtime: how long a job that was placed may take to start, ms. */
export interface Patience {
  startMs: number;
  /** After the first error of pulling its image. */
  pullErrorMs: number;
}

/** What speaks to one cluster for one runtime, over the same connections. */
export interface Cluster {
  client: ClusterClient;
  backend: Backend;
}

const CLOSED: K8sPolicy = { allowAmbient: false, allowHost: false };

/** Nothing is asked before the first call. */
export function createCluster(
  spec: NomadRuntimeSpec | K8sRuntimeSpec,
  credential: BoundCredential | undefined,
  { deployment, egress, nomadConnections: connections, patience, kubeconfigs = CLOSED }: ClusterOptions,
): Cluster {
  switch (spec.kind) {
    case 'nomad': {
      const client = new NomadClient(spec, { token: credential?.token, egress, connections });
      const backend = new NomadBackend(spec, client, patience);
      return { client: new NomadCluster(spec, client, deployment), backend };
    }
    case 'k8s': {
      const link = new K8sLink(() => openAccess(spec, credential, kubeconfigs), egress);
      return {
        client: new K8sCluster(spec, link, deployment),
        backend: new K8sBackend(spec, link, deployment, patience),
      };
    }
  }
}
