import { Module } from '@nestjs/common';
import { OpenApiModule } from '../openapi/openapi.module.js';
import { TrailController } from './trail.controller.js';
import { Trail } from './trail.js';
import { TrailService } from './trail.service.js';

@Module({ controllers: [TrailController], providers: [Trail, TrailService], imports: [OpenApiModule] })
export class TrailModule {}
