import { Module } from '@nestjs/common';
import { RuntimeChecksController } from './runtime-checks.controller.js';
import { RuntimeChecksService } from './runtime-checks.service.js';
import { RuntimeGate } from './runtime-gate.js';
import { RuntimesController } from './runtimes.controller.js';
import { RuntimesService } from './runtimes.service.js';

@Module({
  controllers: [RuntimesController, RuntimeChecksController],
  providers: [RuntimesService, RuntimeChecksService, RuntimeGate],
  exports: [RuntimesService],
})
export class RuntimesModule {}
