import { Module } from '@nestjs/common';
import { EstimatesService } from './estimates.service.js';
import { LoadsService } from './loads.service.js';
import { Simulations } from './simulations.js';

@Module({ providers: [EstimatesService, LoadsService, Simulations], exports: [EstimatesService] })
export class SimulationModule {}
