import { Module } from '@nestjs/common';
import { RuntimesController } from './runtimes.controller.js';
import { RuntimesService } from './runtimes.service.js';

@Module({ controllers: [RuntimesController], providers: [RuntimesService], exports: [RuntimesService] })
export class RuntimesModule {}
