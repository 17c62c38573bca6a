import { Injectable } from '@nestjs/common';
import { Egress, REFUSED_TEXT } from '../../backends/egress/guard.js';
import type { HarnessSpec } from '../../contracts/harness.js';
import { harnessFaults } from '../../policy/cases.js';
import { HarnessStore } from '../../store/harness.store.js';
import type { Principal } from '../common/caller.js';
import { type Accepted, accepted, refOf, registrantOf } from '../common/registration.js';
import { RegistryService } from '../common/registry.service.js';
import { invalid } from '../common/schema.pipe.js';

@Injectable()
export class HarnessesService {
  constructor(
    private readonly harnesses: HarnessStore,
    private readonly registry: RegistryService,
    private readonly egress: Egress,
  ) {}

  async register(principal: Principal, spec: HarnessSpec): Promise<Accepted> {
    this.checked(spec);
    return accepted(await this.harnesses.insert(principal.workspace, spec, registrantOf(principal)), 'harness', spec);
  }

  /** The spec, if it can work. */
  checked(spec: HarnessSpec): HarnessSpec {
    const faults = harnessFaults(spec);
    const poll = spec.acquire?.capacity.poll;
    if (poll !== undefined && this.egress.refusesUrl(poll)) {
      faults.push({ path: 'acquire.capacity.poll', message: REFUSED_TEXT });
    }
    if (faults.length > 0) throw invalid('the harness', faults, 'BAD_SPEC');
    return spec;
  }

  async read(workspace: string, id: string, version: string): Promise<HarnessSpec> {
    const found = await this.harnesses.find(workspace, refOf(id, version));
    if (!found) throw await this.registry.missing('harnesses', workspace, refOf(id, version));
    return found.spec;
  }
}
