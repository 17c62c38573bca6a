import { Injectable } from '@nestjs/common';
import { createCluster } from '../../backends/cluster.js';
import { type ClusterClient, ClusterFailure } from '../../backends/cluster-client.js';
import { Egress, REFUSED_TEXT } from '../../backends/egress/guard.js';
import { BackendResolver } from '../../backends/resolver.js';
import { PlatformError } from '../../contracts/errors.js';
import type { InspectionReport, ProbeAnswer, ProbeReport } from '../../contracts/inspection.js';
import { readValue } from '../../contracts/read-value.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import type { Validation } from '../../contracts/runtime-check.js';
import { isAllowed } from '../../policy/permissions.js';
import { type BoundCredential, ClusterCredentials } from '../../secrets/cluster-credential.js';
import { SecretStore } from '../../secrets/secret.store.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { KnownRuntimeStore } from '../../store/known-runtime.store.js';
import { LocalHostStore } from '../../store/local-host.store.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import { TASK_QUEUES } from '../../workflows/messages.js';
import { Malformed } from '../common/body-parsers.js';
import type { Principal } from '../common/caller.js';
import { Operator } from '../common/operator.js';
import { refOf } from '../common/registration.js';
import { RegistryService } from '../common/registry.service.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { CheckTokens } from './check-tokens.js';
import { LocalCluster } from './local.cluster.js';
import { Places } from './places.js';
import { RuntimeGate } from './runtime-gate.js';

const PROBE_MS = 10_000;
const INSPECT_MS = 15_000;
const ASK_TEMPORAL_MS = 2_000;
/** After its time a cluster may still tell what it has; then nobody waits for it. */
const LAST_WORD_MS = 500;
const PROBES_OF_ONE = 4;
const FOREIGN_AUTHORITY =
  'caCert: no confirmed runtime with this secret has that certificate; a member may probe it, or leave it out';
const UNCONFIRMED = 'nobody confirmed this version: it is looked at without its secret';

/** Looks at runtimes before and after they are registered. */
@Injectable()
export class RuntimeChecksService {
  private readonly places = new Places(PROBES_OF_ONE, 'probes and inspections');

  constructor(
    private readonly runtimes: RuntimeStore,
    private readonly known: KnownRuntimeStore,
    private readonly registry: RegistryService,
    private readonly gate: RuntimeGate,
    private readonly tokens: CheckTokens,
    private readonly credentials: ClusterCredentials,
    private readonly secrets: SecretStore,
    private readonly operator: Operator,
    private readonly egress: Egress,
    private readonly resolver: BackendResolver,
    private readonly workflows: WorkflowClient,
    private readonly localHost: LocalHostStore,
  ) {}

  /** Takes anything, and asks no cluster. */
  async validate(workspace: string, body: unknown): Promise<Validation> {
    const spec = specIn(body);
    if ('errors' in spec) return { ok: false, errors: spec.errors };
    noteSpec(spec);
    const errors = await this.gate.faults(workspace, spec);
    if (errors.length > 0) return { ok: false, errors };
    const { kind, id, version } = spec;
    const [existingVersions, missingSecrets, warnings] = await Promise.all([
      this.known.versions(workspace, id),
      this.missingSecrets(workspace, spec),
      this.gate.warnings(workspace, spec),
    ]);
    return {
      ok: true,
      kind,
      id,
      version,
      existingVersions,
      versionExists: existingVersions.includes(version),
      missingSecrets,
      warnings: [...missingSecrets.map((name) => `there is no secret ${name} yet`), ...warnings],
      checkToken: this.tokens.issue(workspace, spec),
    };
  }

  async probe(principal: Principal, spec: RuntimeSpec): Promise<ProbeReport> {
    const { workspace } = principal;
    noteSpec(spec);
    return this.places.hold(workspace, async () => {
      const startedAt = performance.now();
      const answer = await this.answerOf(principal, spec);
      return {
        kind: spec.kind,
        ...answer,
        latencyMs: Math.round(performance.now() - startedAt),
        ...(answer.reachable && { checkToken: this.tokens.issue(workspace, spec) }),
      };
    });
  }

  async inspect(workspace: string, id: string, version: string): Promise<InspectionReport> {
    const ref = refOf(id, version);
    const found = await this.runtimes.find(workspace, ref);
    if (!found) throw await this.registry.missing('runtimes', workspace, ref);
    const { spec, owner, isConfirmed } = found;
    return this.places.hold(workspace, async () => {
      const startedAt = performance.now();
      const look = (cluster: ClusterClient) => inTime(INSPECT_MS, (signal) => cluster.inspect(signal));
      try {
        const inspection = await (spec.kind === 'local'
          ? look(this.localCluster())
          : this.resolver.use({ owner, spec, isConfirmed }, ({ cluster }) => look(cluster)));
        const latencyMs = Math.round(performance.now() - startedAt);
        const warnings = [...(isConfirmed ? [] : [UNCONFIRMED]), ...inspection.warnings];
        return { id: spec.id, version: spec.version, ...inspection, warnings, latencyMs };
      } catch (error) {
        if (!(error instanceof ClusterFailure)) throw error;
        const why = isConfirmed ? error.message : `${error.message}; ${UNCONFIRMED}`;
        const message = `runtime ${spec.id}@${spec.version} cannot be inspected: ${why}`;
        throw new PlatformError('CLUSTER_UNREACHABLE', message, { reason: error.reason });
      }
    });
  }

  /** Nothing is asked of a cluster that this deployment, or the secret, is not meant for. */
  private async answerOf(principal: Principal, spec: RuntimeSpec): Promise<ProbeAnswer> {
    const { workspace } = principal;
    const refuse = (detail: string): ProbeAnswer => ({ reachable: false, detail, reason: 'refused' });
    const [fault] = await this.gate.faults(workspace, spec);
    // A refused address is told in the same words wherever it was found out.
    if (fault) return refuse(fault.message === REFUSED_TEXT ? REFUSED_TEXT : `${fault.path}: ${fault.message}`);
    const reply = await this.credentials.of(workspace, spec);
    if (reply.kind === 'missing') return refuse(`${reply.fault.path}: ${reply.fault.message}`);
    const credential = reply.kind === 'given' ? reply.credential : undefined;
    if (credential && !(await this.mayChooseAuthority(principal, spec, credential))) return refuse(FOREIGN_AUTHORITY);
    try {
      return await this.probeWith(spec, credential);
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      return { reachable: false, detail: error.message, reason: error.reason };
    }
  }

  /** Who chooses the authority chooses who may pass for the cluster, and gets the secret: not everybody may. */
  private async mayChooseAuthority(
    principal: Principal,
    spec: RuntimeSpec,
    { name }: BoundCredential,
  ): Promise<boolean> {
    if (spec.kind === 'local' || spec.caCert === undefined || isAllowed(principal, 'curate')) return true;
    return this.known.trusts(principal.workspace, name, spec.caCert);
  }

  private async probeWith(spec: RuntimeSpec, credential: BoundCredential | undefined): Promise<ProbeAnswer> {
    const cluster = this.clusterOf(spec, credential);
    try {
      return await inTime(PROBE_MS, (signal) => cluster.probe(signal));
    } finally {
      void cluster.close().catch(() => undefined);
    }
  }

  private clusterOf(spec: RuntimeSpec, credential: BoundCredential | undefined): ClusterClient {
    if (spec.kind === 'local') return this.localCluster();
    return createCluster(spec, credential, { egress: this.egress, ...this.operator.clusters }).client;
  }

  private localCluster(): ClusterClient {
    return new LocalCluster({
      isServed: () => this.workflows.isServed(TASK_QUEUES.local, ASK_TEMPORAL_MS, 'activities'),
      hostId: () => this.localHost.current(),
    });
  }

  private async missingSecrets(workspace: string, spec: RuntimeSpec): Promise<string[]> {
    if (spec.kind === 'local') return [];
    const named = [spec.authSecret, spec.kind === 'k8s' ? spec.kubeconfigSecret : undefined];
    const names = [...new Set(named.filter((name) => name !== undefined))];
    const known = await this.secrets.versions(workspace, names);
    return names.filter((name) => !known.has(name));
  }
}

/** The trail says what exactly was looked at. */
const noteSpec = (spec: RuntimeSpec): void =>
  noteAudit({ object: `${spec.id}@${spec.version}`, after: contentHash(spec) });

/** What `look` finds in time. Whatever is still under way then is not waited for. */
async function inTime<Found>(withinMs: number, look: (signal: AbortSignal) => Promise<Found>): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const failure = new ClusterFailure('unreachable', `it did not answer within ${withinMs / 1_000} s`);
    timer = setTimeout(() => reject(failure), withinMs);
  });
  try {
    return await Promise.race([look(AbortSignal.timeout(withinMs - LAST_WORD_MS)), late]);
  } finally {
    clearTimeout(timer);
  }
}

function specIn(body: unknown): RuntimeSpec | { errors: Extract<Validation, { ok: false }>['errors'] } {
  if (body instanceof Malformed) return { errors: [...body.errors] };
  if (body === undefined) return { errors: [{ path: '', message: 'a JSON body is required' }] };
  const read = readValue(RuntimeSpec, body);
  return 'faults' in read ? { errors: read.faults } : read.data;
}
