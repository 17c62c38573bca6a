import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { fieldPath } from '../../contracts/field-path.js';
import type { HarnessSpec, Params } from '../../contracts/harness.js';
import { nearest } from '../../contracts/nearest.js';
import { runtimeFaults } from '../../policy/capabilities.js';
import { SecretStore } from '../../secrets/secret.store.js';
import { DatasetStore, type RegisteredDataset } from '../../store/dataset.store.js';
import { HarnessStore, type RegisteredHarness } from '../../store/harness.store.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import type { Site } from './case-gate.js';
import { Operator } from './operator.js';
import { RegistryService } from './registry.service.js';
import { invalid } from './schema.pipe.js';

/** Finds what a submit refers to, or refuses naming it, and checks what can be checked without looking at a case. */
@Injectable()
export class ReferencesService {
  constructor(
    private readonly datasets: DatasetStore,
    private readonly harnesses: HarnessStore,
    private readonly runtimes: RuntimeStore,
    private readonly registry: RegistryService,
    private readonly secrets: SecretStore,
    private readonly operator: Operator,
  ) {}

  async dataset(workspace: string, ref: string): Promise<RegisteredDataset> {
    const found = await this.datasets.find(workspace, ref);
    if (!found) throw await this.registry.missing('datasets', workspace, ref);
    return found;
  }

  /** A harness this platform can run, with every secret it names and no parameter it does not know. */
  async harness(workspace: string, ref: string, params: Params = {}): Promise<RegisteredHarness> {
    const found = await this.harnesses.find(workspace, ref);
    if (!found) throw await this.registry.missing('harnesses', workspace, ref);
    refuseUnbuilt(found.spec);
    refuseUnknownParams(found.spec, params);
    await this.refuseMissingSecrets(workspace, found.spec);
    return found;
  }

  /** A runtime of the workspace, or a shared one, with the limits in force, whatever its version. */
  async site(workspace: string, ref: string): Promise<Site> {
    const found = await this.registered(workspace, ref);
    const faults = runtimeFaults(found.spec, this.operator);
    if (faults.length > 0) throw invalid(`runtime ${found.id}@${found.version}`, faults, 'BAD_SPEC');
    if (found.drain) throw draining(found.id, found.drain);
    return found;
  }

  /** A runtime as it is registered, whether it takes work now or not. */
  async registered(workspace: string, ref: string): Promise<Site> {
    const found = await this.runtimes.find(workspace, ref);
    if (!found) throw await this.registry.missing('runtimes', workspace, ref);
    return found;
  }

  /** A site that a case names as its target. Whoever submits may not have read it, so it confirms nothing. */
  async target(workspace: string, ref: string): Promise<Site> {
    const site = await this.site(workspace, ref);
    if (site.isConfirmed) return site;
    const message = `runtime ${ref}, the target of a case, is unconfirmed: confirm it, or name it as \`runtime\``;
    throw new PlatformError('CONFLICT', message, { errors: [{ path: 'runtime', message }] });
  }

  private async refuseMissingSecrets(workspace: string, spec: HarnessSpec): Promise<void> {
    const refs = Object.entries(spec.env).flatMap(([variable, value]) =>
      typeof value === 'string' ? [] : [{ variable, name: value.secretRef }],
    );
    const missing = await this.secrets.missing(workspace, [...new Set(refs.map(({ name }) => name))]);
    if (missing.length === 0) return;
    const errors = refs
      .filter(({ name }) => missing.includes(name))
      .map(({ variable, name }) => ({ path: `harness.env.${variable}`, message: `no secret ${name} is stored` }));
    const message = `harness ${spec.id}@${spec.version} needs secrets that are not stored: ${missing.join(', ')}`;
    throw new PlatformError('SECRET_MISSING', message, { errors });
  }
}

function draining(id: string, { until, reason }: NonNullable<Site['drain']>): PlatformError {
  const end = until ? `until ${until.toISOString()}` : 'until somebody resumes it';
  const message = `runtime ${id} takes no new work ${end}${reason === undefined ? '' : `: ${reason}`}`;
  return new PlatformError('RUNTIME_DRAINING', message, { errors: [{ path: 'runtime', message }] });
}

function refuseUnbuilt({ id, version, kind }: HarnessSpec): void {
  if (kind !== 'service') return;
  throw new PlatformError('HARNESS_NOT_BUILT', `harness ${id}@${version} is of kind ${kind}, which does not run yet`);
}

function refuseUnknownParams({ id, version, params: declared }: HarnessSpec, params: Params): void {
  const unknown = Object.keys(params).filter((name) => !Object.hasOwn(declared, name));
  if (unknown.length === 0) return;
  const errors = unknown.map((name) => {
    const meant = nearest(name, Object.keys(declared));
    const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
    return { path: fieldPath(['params', name]), message: `is no parameter of harness ${id}@${version}${hint}` };
  });
  throw invalid('the request', errors);
}
