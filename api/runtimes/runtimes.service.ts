import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import type { RuntimeSpec } from '../../contracts/runtime.js';
import { derive, operatorFaults } from '../../policy/capabilities.js';
import { envelopeOf } from '../../policy/demand.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import type { Principal } from '../common/caller.js';
import { Operator } from '../common/operator.js';
import { type Accepted, accepted, refOf, registrantOf } from '../common/registration.js';
import { RegistryService } from '../common/registry.service.js';
import { invalid } from '../common/schema.pipe.js';
import { WorkflowClient } from '../common/workflow.client.js';

@Injectable()
export class RuntimesService {
  constructor(
    private readonly runtimes: RuntimeStore,
    private readonly registry: RegistryService,
    private readonly workflows: WorkflowClient,
    private readonly operator: Operator,
  ) {}

  /** Stores the spec with the capabilities that follow from it. A new limit reaches work that waits already. */
  async register(principal: Principal, spec: RuntimeSpec): Promise<{ outcome: Accepted; stored: RuntimeSpec }> {
    const stored = this.checked(spec);
    const envelope = envelopeOf(stored, availableParallelism());
    const { workspace } = principal;
    const registration = await this.runtimes.insert(workspace, stored, envelope, registrantOf(principal));
    const outcome = accepted(registration, 'runtime', spec);
    if (registration.limits) this.workflows.signalLimits([registration.limits]);
    return { outcome, stored };
  }

  /** The spec as it is stored, if the operator allows it. */
  checked(spec: RuntimeSpec): RuntimeSpec {
    const faults = operatorFaults(spec, this.operator);
    if (faults.length > 0) throw invalid('the runtime', faults, 'BAD_SPEC');
    return { ...spec, capabilities: derive(spec) };
  }

  async read(workspace: string, id: string, version: string): Promise<RuntimeSpec> {
    const found = await this.runtimes.find(workspace, refOf(id, version));
    if (!found) throw await this.registry.missing('runtimes', workspace, refOf(id, version));
    return found.spec;
  }
}
