import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { ScorecardGate } from '../scorecards/scorecard-gate.js';
import { EstimatesService } from './estimates.service.js';
import { LoadsService } from './loads.service.js';
import { PredictionsService } from './predictions.service.js';
import { SimulationController } from './simulation.controller.js';
import { SimulationService } from './simulation.service.js';
import { Simulations } from './simulations.js';

@Module({
  imports: [AdmissionModule],
  controllers: [SimulationController],
  providers: [EstimatesService, LoadsService, PredictionsService, ScorecardGate, SimulationService, Simulations],
  exports: [EstimatesService],
})
export class SimulationModule {}
