import { Module } from '@nestjs/common';
import { BaselinesController } from './baselines.controller.js';
import { BaselinesService } from './baselines.service.js';

@Module({ controllers: [BaselinesController], providers: [BaselinesService] })
export class BaselinesModule {}
