import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import type { RuntimeSpec } from '../../contracts/runtime.js';
import { derive, operatorFaults } from '../../policy/capabilities.js';
import { envelopeOf } from '../../policy/demand.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import { type ListQuery, type Page, pageOfAll } from '../common/cursor.js';
import { Operator } from '../common/operator.js';
import { accepted, notFound, type Registered } from '../common/registration.js';
import { invalid } from '../common/schema.pipe.js';
import { WorkflowClient } from '../common/workflow.client.js';

@Injectable()
export class RuntimesService {
  constructor(
    private readonly runtimes: RuntimeStore,
    private readonly workflows: WorkflowClient,
    private readonly operator: Operator,
  ) {}

  /** Stores the spec with the capabilities that follow from it. A new limit reaches work that waits already. */
  async register(workspace: string, spec: RuntimeSpec): Promise<{ outcome: Registered; stored: RuntimeSpec }> {
    const faults = operatorFaults(spec, this.operator);
    if (faults.length > 0) throw invalid('the runtime', faults, 'BAD_SPEC');
    const stored = { ...spec, capabilities: derive(spec) };
    const { kind, poolId, envelopeVersion } = await this.runtimes.insert(
      workspace,
      stored,
      envelopeOf(stored, availableParallelism()),
    );
    const outcome = accepted(kind, 'runtime', spec);
    if (envelopeVersion !== undefined) this.workflows.signalEnvelope(poolId, envelopeVersion);
    return { outcome, stored };
  }

  async list(workspace: string, query: ListQuery): Promise<Page<RuntimeSpec>> {
    return pageOfAll(await this.runtimes.list(workspace), query, ({ spec }) => spec);
  }

  async read(workspace: string, id: string, version: string): Promise<RuntimeSpec> {
    const found = await this.runtimes.find(workspace, id, version);
    if (!found) throw notFound('runtime', `${id}@${version}`);
    return found.spec;
  }
}
