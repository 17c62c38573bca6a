import { Injectable } from '@nestjs/common';
import type { EarlyStopPlan } from '../../contracts/early-stop.js';
import { PlatformError } from '../../contracts/errors.js';
import type { ScorecardRequest } from '../../contracts/scorecard.js';
import { misfits } from '../../policy/early-stop/fit.js';
import type { RegisteredDataset } from '../../store/dataset.store.js';
import { EarlyStopStore } from '../../store/early-stop.store.js';
import { PoliciesService } from '../policies/policies.service.js';
import { SidesService } from './sides.service.js';

/** How a scorecard may end early, resolved before it is stored: what does not fit is refused. */
@Injectable()
export class EarlyStopService {
  constructor(
    private readonly policies: PoliciesService,
    private readonly sides: SidesService,
    private readonly earlyStops: EarlyStopStore,
  ) {}

  async resolve(
    workspace: string,
    { earlyStop, cases: filter = {}, trials }: ScorecardRequest,
    dataset: RegisteredDataset,
  ): Promise<EarlyStopPlan | undefined> {
    if (!earlyStop) return undefined;
    const { policy, baseline, errorRate, minCases } = earlyStop;
    const used = await this.policies.resolve(workspace, policy);
    const selection = await this.earlyStops.selection(dataset.pk, filter);
    const batch = { dataset: `${dataset.id}@${dataset.version}`, trials, ...selection };
    const { before, errors } = await this.sides.inTurn(async () => {
      const side = baseline === undefined ? undefined : await this.sides.readFinished(workspace, baseline);
      return { before: side?.scorecard.id, errors: misfits(used.rules, batch, side) };
    });
    if (errors.length > 0) {
      const said = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
      throw new PlatformError('BAD_REQUEST', `the scorecard cannot end early: ${said}`, { errors });
    }
    return { policy: used, baseline: before ?? null, errorRate, minCases };
  }
}
