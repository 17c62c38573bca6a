import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { ScorecardId } from '../../contracts/ids.js';
import type { Side } from '../../policy/comparison/side.js';
import { BaselineStore } from '../../store/baseline.store.js';
import { ResultStore } from '../../store/result.store.js';
import { MissingService } from '../common/missing.service.js';

/** Scorecards as they are compared and judged. */
@Injectable()
export class SidesService {
  constructor(
    private readonly results: ResultStore,
    private readonly baselines: BaselineStore,
    private readonly missing: MissingService,
  ) {}

  /** By the id of a scorecard, or the name that a baseline is pinned under. It may still run. */
  async read(workspace: string, idOrName: string): Promise<Side> {
    const id = ScorecardId.safeParse(idOrName).success ? idOrName : await this.pinned(workspace, idOrName);
    const side = await this.results.side(workspace, id);
    if (!side) throw await this.missing.scorecard(workspace, id);
    return side;
  }

  /** One that is finished: what still runs says nothing final. */
  async readFinished(workspace: string, idOrName: string): Promise<Side> {
    const side = await this.read(workspace, idOrName);
    const { id, status } = side.scorecard;
    if (status === 'completed' || status === 'cancelled') return side;
    const wayOut = `wait until it is finished (GET /scorecards/${id} or its /events), or cancel it, and ask again`;
    throw new PlatformError('CONFLICT', `scorecard ${id} is ${status}: ${wayOut}`);
  }

  private async pinned(workspace: string, name: string): Promise<string> {
    const pin = await this.baselines.find(workspace, name);
    if (pin) return pin.scorecard;
    throw new PlatformError(
      'NOT_FOUND',
      `there is no baseline ${name}: give the id of a scorecard, or pin one under it`,
    );
  }
}
