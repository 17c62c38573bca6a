import { type DynamicModule, Module } from '@nestjs/common';
import { type CommonParts, commonModule } from './common/common.module.js';
import { DatasetsModule } from './datasets/datasets.module.js';
import { HarnessesModule } from './harnesses/harnesses.module.js';
import { HealthModule } from './health/health.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { RunsModule } from './runs/runs.module.js';
import { RuntimesModule } from './runtimes/runtimes.module.js';
import { ScorecardsModule } from './scorecards/scorecards.module.js';

@Module({
  imports: [DatasetsModule, HarnessesModule, RuntimesModule, ScorecardsModule, RunsModule, HealthModule, OpenApiModule],
})
class AppModule {}

export const appModule = (parts: CommonParts): DynamicModule => ({ module: AppModule, imports: [commonModule(parts)] });
