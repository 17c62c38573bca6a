import { Module } from '@nestjs/common';
import { versionsController } from './versions.controller.js';

@Module({ controllers: (['datasets', 'harnesses', 'runtimes'] as const).map(versionsController) })
export class RegistryModule {}
