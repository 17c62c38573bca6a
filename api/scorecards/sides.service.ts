import { Injectable } from '@nestjs/common';
import type { ComparedScorecard } from '../../contracts/comparison.js';
import { PlatformError } from '../../contracts/errors.js';
import { ScorecardId } from '../../contracts/ids.js';
import type { Side } from '../../policy/comparison/side.js';
import { BaselineStore } from '../../store/baseline.store.js';
import { ResultStore } from '../../store/result.store.js';
import { MissingService } from '../common/missing.service.js';
import { Turns } from '../common/turns.js';

const AT_A_TIME = 2;

/** Scorecards as they are compared and judged. */
@Injectable()
export class SidesService {
  private readonly turns = new Turns(AT_A_TIME);

  constructor(
    private readonly results: ResultStore,
    private readonly baselines: BaselineStore,
    private readonly missing: MissingService,
  ) {}

  /** By the id of a scorecard, or the name that a baseline is pinned under. It may still run. */
  async read(workspace: string, idOrName: string): Promise<Side> {
    return this.whole(await this.scorecard(workspace, idOrName));
  }

  /** One that is finished: what still runs says nothing final. */
  async readFinished(workspace: string, idOrName: string): Promise<Side> {
    return this.whole(await this.finished(workspace, idOrName));
  }

  /** The same without its results. */
  async finished(workspace: string, idOrName: string): Promise<ComparedScorecard> {
    const scorecard = await this.scorecard(workspace, idOrName);
    const { id, status } = scorecard;
    if (status === 'completed' || status === 'cancelled') return scorecard;
    const wayOut = `wait until it is finished (GET /scorecards/${id} or its /events), or cancel it, and ask again`;
    throw new PlatformError('CONFLICT', `scorecard ${id} is ${status}: ${wayOut}`);
  }

  /** Work over sides, a little at a time: those of 100,000 runs take a hundred megabytes each. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.turns.take(work);
  }

  private async whole(scorecard: ComparedScorecard): Promise<Side> {
    return { scorecard, results: await this.results.ofScorecard(scorecard.id) };
  }

  private async scorecard(workspace: string, idOrName: string): Promise<ComparedScorecard> {
    const id = ScorecardId.safeParse(idOrName).success ? idOrName : await this.pinned(workspace, idOrName);
    const found = await this.results.scorecard(workspace, id);
    if (!found) throw await this.missing.scorecard(workspace, id);
    return found;
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
