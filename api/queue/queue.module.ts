import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { SimulationModule } from '../simulation/simulation.module.js';
import { QueueController } from './queue.controller.js';
import { QueueService } from './queue.service.js';
import { WaitingService } from './waiting.service.js';

@Module({
  imports: [AdmissionModule, SimulationModule],
  controllers: [QueueController],
  providers: [QueueService, WaitingService],
  exports: [WaitingService],
})
export class QueueModule {}
