import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionModule } from './admission/admission.module.js';
import { TrailModule } from './audit/trail.module.js';
import { BaselinesModule } from './baselines/baselines.module.js';
import { type CommonProviders, commonModule } from './common/common.module.js';
import { DatasetsModule } from './datasets/datasets.module.js';
import { GatesModule } from './gates/gates.module.js';
import { HarnessesModule } from './harnesses/harnesses.module.js';
import { HealthModule } from './health/health.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { QueueModule } from './queue/queue.module.js';
import { RegistryModule } from './registry/registry.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { RunsModule } from './runs/runs.module.js';
import { RuntimesModule } from './runtimes/runtimes.module.js';
import { ScorecardsModule } from './scorecards/scorecards.module.js';
import { SecretsModule } from './secrets/secrets.module.js';
import { SharedModule } from './shared/shared.module.js';
import { SimulationModule } from './simulation/simulation.module.js';

@Module({
  imports: [
    DatasetsModule,
    HarnessesModule,
    RuntimesModule,
    PoliciesModule,
    GatesModule,
    ScorecardsModule,
    BaselinesModule,
    RetentionModule,
    SharedModule,
    RegistryModule,
    RunsModule,
    SecretsModule,
    AdmissionModule,
    QueueModule,
    SimulationModule,
    TrailModule,
    IdentityModule,
    HealthModule,
    MetricsModule,
    OpenApiModule,
    McpModule,
  ],
})
class AppModule {}

export const appModule = (parts: CommonProviders): DynamicModule => ({
  module: AppModule,
  imports: [commonModule(parts)],
});
