import { Module } from '@nestjs/common';
import { AdmissionController } from './admission.controller.js';
import { AuditService } from './audit.service.js';
import { DialService } from './dial.service.js';
import { LedgersService } from './ledgers.service.js';
import { RuntimeAdmissionController } from './runtime-admission.controller.js';
import { RuntimeAdmissionService } from './runtime-admission.service.js';

@Module({
  controllers: [AdmissionController, RuntimeAdmissionController],
  providers: [AuditService, DialService, LedgersService, RuntimeAdmissionService],
  exports: [AuditService, DialService, LedgersService],
})
export class AdmissionModule {}
