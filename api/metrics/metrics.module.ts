import { Module } from '@nestjs/common';
import { AdmissionModule } from '../admission/admission.module.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsService } from './metrics.service.js';

@Module({ imports: [AdmissionModule], controllers: [MetricsController], providers: [MetricsService] })
export class MetricsModule {}
