import type { Logger } from '@temporalio/worker';
import { pauseReason } from '../policy/pausing.js';
import type { PauseStore } from '../store/pause.store.js';
import type { AdmissionSender } from './admission-sender.js';

/** Stops scorecards whose attempts fail for reasons that another attempt does not cure. */
export class PauseJudge {
  constructor(
    private readonly pauses: Pick<PauseStore, 'lastEnds' | 'pause'>,
    private readonly sender: Pick<AdmissionSender, 'announce'>,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** After an attempt of the scorecard was closed that infrastructure ended. Where it fails, the next one is judged. */
  async judge(scorecardId: string): Promise<void> {
    try {
      const reason = pauseReason(await this.pauses.lastEnds(scorecardId));
      if (reason !== undefined) await this.pause(scorecardId, reason);
    } catch (error) {
      this.log.warn('scorecard not judged', { scorecardId, error });
    }
  }

  private async pause(scorecardId: string, reason: string): Promise<void> {
    const changed = await this.pauses.pause(scorecardId, reason);
    if (changed.length > 0) this.log.warn('scorecard paused', { scorecardId, reason });
    for (const { poolId, envelopeVersion } of changed) await this.sender.announce(poolId, envelopeVersion);
  }
}
