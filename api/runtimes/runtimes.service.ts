import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import type { RuntimeSpec } from '../../contracts/runtime.js';
import { derive } from '../../policy/capabilities.js';
import { envelopeOf } from '../../policy/demand.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import type { Principal } from '../common/caller.js';
import { type Accepted, accepted, refOf, registrantOf } from '../common/registration.js';
import { RegistryService } from '../common/registry.service.js';
import { invalid } from '../common/schema.pipe.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { CheckTokens } from './check-tokens.js';
import { RuntimeGate } from './runtime-gate.js';

@Injectable()
export class RuntimesService {
  constructor(
    private readonly runtimes: RuntimeStore,
    private readonly registry: RegistryService,
    private readonly workflows: WorkflowClient,
    private readonly gate: RuntimeGate,
    private readonly checks: CheckTokens,
  ) {}

  /**
   * Stores the spec with the capabilities that follow from it. A new limit reaches work that waits already.
   * `checkToken`: takes only the spec that was checked.
   */
  async register(
    principal: Principal,
    spec: RuntimeSpec,
    checkToken?: string,
  ): Promise<{ outcome: Accepted; stored: RuntimeSpec; warnings: string[] }> {
    const { workspace } = principal;
    if (checkToken !== undefined) this.checks.require(workspace, spec, checkToken);
    const stored = await this.checked(workspace, spec);
    const envelope = envelopeOf(stored, availableParallelism());
    const registration = await this.runtimes.insert(workspace, stored, envelope, registrantOf(principal));
    const outcome = accepted(registration, 'runtime', spec);
    if (registration.limits) this.workflows.signalLimits([registration.limits]);
    return { outcome, stored, warnings: await this.gate.warnings(workspace, spec) };
  }

  /** The spec as it is stored, if nothing speaks against it. */
  async checked(workspace: string, spec: RuntimeSpec): Promise<RuntimeSpec> {
    const faults = await this.gate.faults(workspace, spec);
    if (faults.length > 0) throw invalid('the runtime', faults, 'BAD_SPEC');
    return { ...spec, capabilities: derive(spec) };
  }

  async read(workspace: string, id: string, version: string): Promise<RuntimeSpec> {
    const found = await this.runtimes.find(workspace, refOf(id, version));
    if (!found) throw await this.registry.missing('runtimes', workspace, refOf(id, version));
    return found.spec;
  }
}
