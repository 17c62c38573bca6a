import { Module } from '@nestjs/common';
import { PoliciesModule } from '../policies/policies.module.js';
import { ScorecardsModule } from '../scorecards/scorecards.module.js';
import { GatesController } from './gates.controller.js';
import { GatesService } from './gates.service.js';
import { ScorecardGatesController } from './scorecard-gates.controller.js';

@Module({
  imports: [PoliciesModule, ScorecardsModule],
  controllers: [GatesController, ScorecardGatesController],
  providers: [GatesService],
})
export class GatesModule {}
