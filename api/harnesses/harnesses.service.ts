import { Injectable } from '@nestjs/common';
import type { HarnessSpec } from '../../contracts/harness.js';
import { harnessFaults } from '../../policy/cases.js';
import { HarnessStore } from '../../store/harness.store.js';
import { type ListQuery, type Page, pageOfAll } from '../common/cursor.js';
import { accepted, notFound, type Registered, refOf } from '../common/registration.js';
import { invalid } from '../common/schema.pipe.js';

@Injectable()
export class HarnessesService {
  constructor(private readonly harnesses: HarnessStore) {}

  async register(workspace: string, spec: HarnessSpec): Promise<Registered> {
    const faults = harnessFaults(spec);
    if (faults.length > 0) throw invalid('the harness', faults, 'BAD_SPEC');
    return accepted(await this.harnesses.insert(workspace, spec), 'harness', spec);
  }

  async list(workspace: string, query: ListQuery): Promise<Page<HarnessSpec>> {
    return pageOfAll(await this.harnesses.list(workspace), query, ({ spec }) => spec);
  }

  async read(workspace: string, id: string, version: string): Promise<HarnessSpec> {
    const found = await this.harnesses.find(workspace, refOf(id, version));
    if (!found) throw notFound('harness', `${id}@${version}`);
    return found.spec;
  }
}
