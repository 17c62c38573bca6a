import { Injectable } from '@nestjs/common';
import { ClusterFailure } from '../../backends/cluster-client.js';
import { Egress, REFUSED_TEXT } from '../../backends/egress/guard.js';
import { boundKubeconfig } from '../../backends/k8s/k8s.access.js';
import type { FieldError } from '../../contracts/errors.js';
import type { RuntimeSpec } from '../../contracts/runtime.js';
import { runtimeFaults } from '../../policy/capabilities.js';
import { originOf } from '../../policy/origins.js';
import { type BoundCredential, ClusterCredentials } from '../../secrets/cluster-credential.js';
import { KnownRuntimeStore } from '../../store/known-runtime.store.js';
import { Operator } from '../common/operator.js';

/** Ids that a warning names. */
const SHOWN = 5;

/** What this deployment and a workspace's secrets have against a runtime, before anyone asks its cluster. */
@Injectable()
export class RuntimeGate {
  constructor(
    private readonly operator: Operator,
    private readonly egress: Egress,
    private readonly credentials: ClusterCredentials,
    private readonly known: KnownRuntimeStore,
  ) {}

  /** Why it cannot be registered. A secret that is not there yet may still come. */
  async faults(workspace: string, spec: RuntimeSpec): Promise<FieldError[]> {
    const reply = await this.credentials.of(workspace, spec);
    return [
      ...runtimeFaults(spec, this.operator),
      ...addressesOf(spec)
        .filter(({ url }) => this.egress.refusesUrl(url))
        .map(({ path }) => ({ path, message: REFUSED_TEXT })),
      ...(reply.kind === 'refused' ? [reply.fault] : []),
      ...(reply.kind === 'given' && reply.credential.kubeconfig !== undefined
        ? this.kubeconfigFaults(reply.credential)
        : []),
    ];
  }

  /** Its address is in the secret, not in the spec. */
  private kubeconfigFaults(credential: BoundCredential): FieldError[] {
    const { path } = credential;
    try {
      const { server } = boundKubeconfig(credential, this.operator.clusters.kubeconfigs);
      return this.egress.refusesUrl(server.href) ? [{ path, message: REFUSED_TEXT }] : [];
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return [{ path, message: error.message }];
    }
  }

  /** What is allowed, and may surprise. */
  async warnings(workspace: string, spec: RuntimeSpec): Promise<string[]> {
    const own = spec.kind === 'nomad' ? spec.addr : spec.kind === 'k8s' ? spec.server : undefined;
    if (own === undefined) return [];
    const others = (await this.known.addresses(workspace))
      .filter(({ workspaceId, id }) => workspaceId !== workspace || id !== spec.id)
      .filter(({ address }) => originOf(address) === originOf(own))
      .map(({ workspaceId, id }) => (workspaceId === workspace ? id : `${id} (shared)`));
    const names = [...new Set(others)];
    if (names.length === 0) return [];
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
    const listed = names.slice(0, SHOWN).join(', ') + more;
    return [
      `runtime ${listed} uses the same cluster address: they do not share an envelope, each admits up to its own`,
    ];
  }
}

/** Addresses that are dialled for a runtime. */
function addressesOf(spec: RuntimeSpec): { path: string; url: string }[] {
  if (spec.kind === 'local') return [];
  const { traceSource } = spec;
  const named = spec.kind === 'nomad' ? { addr: spec.addr, traceSource } : { server: spec.server, traceSource };
  return Object.entries(named).flatMap(([path, url]) => (url === undefined ? [] : [{ path, url }]));
}
