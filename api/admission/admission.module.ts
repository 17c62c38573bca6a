import { Module } from '@nestjs/common';
import { AdmissionController } from './admission.controller.js';
import { AuditService } from './audit.service.js';
import { DialService } from './dial.service.js';
import { RuntimeAdmissionController } from './runtime-admission.controller.js';

@Module({
  controllers: [AdmissionController, RuntimeAdmissionController],
  providers: [AuditService, DialService],
  exports: [AuditService],
})
export class AdmissionModule {}
