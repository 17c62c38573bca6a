import { Injectable } from '@nestjs/common';
import type { Comparison, TrialReport } from '../../contracts/comparison.js';
import { PlatformError } from '../../contracts/errors.js';
import { compare } from '../../policy/comparison/compare.js';
import { incomparable, onIntersection, type Side } from '../../policy/comparison/side.js';
import { trialReport } from '../../policy/trials.js';
import type { ComparisonQuery } from './comparisons.schema.js';
import { SidesService } from './sides.service.js';

@Injectable()
export class ComparisonsService {
  constructor(private readonly sides: SidesService) {}

  diff(workspace: string, { baseline: old, candidate: recent, on, limit }: ComparisonQuery): Promise<Comparison> {
    return this.sides.inTurn(async () => {
      const { id } = await this.sides.finished(workspace, recent);
      const baseline = await this.sides.readFinished(workspace, old);
      const candidate = await this.sides.readFinished(workspace, id);
      refuseUnlike(baseline, candidate, on);
      return compare(baseline, candidate, { on, limit });
    });
  }

  /** Of one that still runs, it is of the cases whose trials have all ended. */
  trials(workspace: string, id: string): Promise<TrialReport> {
    return this.sides.inTurn(async () => trialReport((await this.sides.read(workspace, id)).results));
  }
}

function refuseUnlike(baseline: Side, candidate: Side, on: Comparison['basis']): void {
  const differs = incomparable(baseline, candidate);
  if (differs.length === 0) return;
  const isSomeCommon = onIntersection(baseline, candidate).candidate.results.length > 0;
  if (isSomeCommon && on === 'intersection') return;
  const faults = differs.map(({ what, message }) => ({ path: what, message }));
  const errors = isSomeCommon ? faults : [{ path: 'cases', message: 'none is the same on both sides' }, ...faults];
  const why = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const wayOut = isSomeCommon ? '. `on=intersection` compares the cases that are the same on both sides' : '';
  const pair = `${baseline.scorecard.id} and ${candidate.scorecard.id}`;
  throw new PlatformError('NOT_COMPARABLE', `${pair} cannot be compared: ${why}${wayOut}`, { errors });
}
