import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { PauseStore } from '../../store/pause.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { refuseForeignWork } from '../common/own-work.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { ScorecardsService } from './scorecards.service.js';

/** Stops and starts what waits of a scorecard. */
@Injectable()
export class ScorecardPausesService {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly store: ScorecardStore,
    private readonly pauses: PauseStore,
    private readonly workflows: WorkflowClient,
  ) {}

  async pause(caller: Principal, id: string, reason: string | undefined): Promise<ScorecardView> {
    const { status, regradeOf } = await this.own(caller, id);
    if (regradeOf !== null) {
      throw new PlatformError(
        'CONFLICT',
        `${id} runs nothing that could be paused: it is graded anew. Cancel it instead`,
      );
    }
    if (status === 'completed' || status === 'cancelled' || status === 'cancelling') {
      throw new PlatformError('CONFLICT', `${id} is ${status}: nothing of it is to start any more`);
    }
    this.workflows.signalLimits(await this.pauses.pause(id, reason ?? `paused by ${caller.subject}`));
    return this.scorecards.read(caller.workspace, id);
  }

  async resume(caller: Principal, id: string): Promise<ScorecardView> {
    await this.own(caller, id);
    this.workflows.signalLimits(await this.pauses.resume(id));
    return this.scorecards.read(caller.workspace, id);
  }

  private async own(caller: Principal, id: string): Promise<ScorecardView> {
    const found = await this.scorecards.read(caller.workspace, id);
    await refuseForeignWork(caller, id, (scorecard) => this.store.submitterOf(scorecard));
    return found;
  }
}
