import { Module } from '@nestjs/common';
import { PoliciesModule } from '../policies/policies.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { ComparisonsController } from './comparisons.controller.js';
import { ComparisonsService } from './comparisons.service.js';
import { DeletionsController } from './deletions.controller.js';
import { DeletionsService } from './deletions.service.js';
import { EarlyStopService } from './early-stop.service.js';
import { ExportsController } from './exports.controller.js';
import { ExportsService } from './exports.service.js';
import { RegradesService } from './regrades.service.js';
import { RerollsController } from './rerolls.controller.js';
import { RetriesService } from './retries.service.js';
import { RetryGate } from './retry-gate.js';
import { ScorecardGate } from './scorecard-gate.js';
import { ScorecardPausesController } from './scorecard-pauses.controller.js';
import { ScorecardPausesService } from './scorecard-pauses.service.js';
import { ScorecardWatcher } from './scorecard-watcher.js';
import { ScorecardsController } from './scorecards.controller.js';
import { ScorecardsService } from './scorecards.service.js';
import { SidesService } from './sides.service.js';

@Module({
  imports: [PoliciesModule, QueueModule],
  controllers: [
    ComparisonsController,
    DeletionsController,
    ExportsController,
    RerollsController,
    ScorecardsController,
    ScorecardPausesController,
  ],
  providers: [
    ComparisonsService,
    DeletionsService,
    ExportsService,
    EarlyStopService,
    RegradesService,
    RetriesService,
    RetryGate,
    ScorecardGate,
    ScorecardPausesService,
    ScorecardsService,
    ScorecardWatcher,
    SidesService,
  ],
  exports: [ScorecardWatcher, SidesService],
})
export class ScorecardsModule {}
