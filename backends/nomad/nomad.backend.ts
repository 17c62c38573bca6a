import { PlatformError } from '../../contracts/errors.js';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { Allocation } from '../../policy/sweep.js';
import type { AllocationEvent, AllocationRef, Backend, Job, Submitted, Watch } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { NomadClient } from './nomad.client.js';

/** Runs jobs on a Nomad cluster. */
export class NomadBackend implements Backend {
  readonly kind = 'nomad';

  constructor(
    readonly spec: NomadRuntimeSpec,
    readonly client: NomadClient,
    readonly patience: Patience,
  ) {}

  async submit(_job: Job, _allocation: AllocationRef): Promise<Submitted> {
    throw notBuilt();
  }

  watch(_allocation: AllocationRef, _watch: Watch): AsyncIterable<AllocationEvent> {
    throw notBuilt();
  }

  async stop(_allocation: AllocationRef): Promise<void> {
    throw notBuilt();
  }

  async list(_deployment: string): Promise<Allocation[]> {
    throw notBuilt();
  }

  async provenance(_allocation: AllocationRef): Promise<Record<string, unknown>> {
    throw notBuilt();
  }
}

const notBuilt = (): PlatformError =>
  new PlatformError('BACKEND_NOT_BUILT', 'this version cannot run jobs on nomad runtimes yet');
