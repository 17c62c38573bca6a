import { Module } from '@nestjs/common';
import { AdmissionController } from './admission.controller.js';
import { AuditService } from './audit.service.js';

@Module({ controllers: [AdmissionController], providers: [AuditService], exports: [AuditService] })
export class AdmissionModule {}
