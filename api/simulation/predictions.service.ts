import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { JsonLog } from '../../config/log.js';
import { groupBy } from '../../policy/grouping.js';
import { type Prediction, PredictionStore } from '../../store/prediction.store.js';
import { type Estimate, EstimatesService } from './estimates.service.js';

const EVERY_MS = 30_000;
/** Runs that something is said of each time. */
const AT_ONCE = 20;

/** Notes of some waiting runs when they are said to start, so that it shows how far estimates come true. */
@Injectable()
export class PredictionsService implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly predictions: PredictionStore,
    private readonly estimates: EstimatesService,
    private readonly log: JsonLog,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.predict().catch((error: unknown) => this.log.warn('no waits were predicted', { error }));
    }, EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Returns of how many. */
  async predict(): Promise<number> {
    const waiting = await this.predictions.unpredicted(AT_ONCE);
    const said: Prediction[] = [];
    for (const [poolId, runs] of groupBy(waiting, (run) => run.poolId)) {
      const ids = runs.map(({ runId }) => runId);
      for (const [runId, estimate] of await this.estimates.estimate(poolId, ids)) {
        const prediction = predictionOf(runId, estimate);
        if (prediction) said.push(prediction);
      }
    }
    if (said.length > 0) await this.predictions.record(said);
    return said.length;
  }
}

const predictionOf = (runId: string, { etaP50: p50Sec, etaP90: p90Sec }: Estimate): Prediction | undefined =>
  p50Sec === null || p90Sec === null ? undefined : { runId, p50Sec, p90Sec };
