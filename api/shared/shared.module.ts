import { Module } from '@nestjs/common';
import { DatasetsModule } from '../datasets/datasets.module.js';
import { HarnessesModule } from '../harnesses/harnesses.module.js';
import { RuntimesModule } from '../runtimes/runtimes.module.js';
import { SharedLoader } from './shared-loader.js';

@Module({ imports: [DatasetsModule, HarnessesModule, RuntimesModule], providers: [SharedLoader] })
export class SharedModule {}
