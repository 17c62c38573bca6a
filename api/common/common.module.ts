import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { Egress } from '../../backends/egress/guard.js';
import { BackendResolver } from '../../backends/resolver.js';
import type { Env } from '../../config/env.js';
import { JsonLog } from '../../config/log.js';
import { HiddenValues } from '../../policy/redact.js';
import { ClusterCredentials } from '../../secrets/cluster-credential.js';
import { Sealer } from '../../secrets/sealer.js';
import { SecretStore } from '../../secrets/secret.store.js';
import { SecretNamings } from '../../secrets/secret-namings.js';
import { SecretRotation } from '../../secrets/secret-rotation.js';
import { AttemptStore } from '../../store/attempt.store.js';
import { AuditStore } from '../../store/audit.store.js';
import { BaselineStore } from '../../store/baseline.store.js';
import { CandidateStore } from '../../store/candidate.store.js';
import { CensusStore } from '../../store/census.store.js';
import { CiBindingStore } from '../../store/ci-binding.store.js';
import { DatasetStore } from '../../store/dataset.store.js';
import { DeletionStore } from '../../store/deletion.store.js';
import { DialStore } from '../../store/dial.store.js';
import { DurationStore } from '../../store/duration.store.js';
import { EarlyStopStore } from '../../store/early-stop.store.js';
import { ExportStore } from '../../store/export.store.js';
import { GateStore } from '../../store/gate.store.js';
import { GatePolicyStore } from '../../store/gate-policy.store.js';
import { HarnessStore } from '../../store/harness.store.js';
import { HolderStore } from '../../store/holder.store.js';
import { IdempotencyStore } from '../../store/idempotency.store.js';
import { InvariantStore } from '../../store/invariant.store.js';
import { KeyStore } from '../../store/key.store.js';
import { KnownRuntimeStore } from '../../store/known-runtime.store.js';
import { LocalHostStore } from '../../store/local-host.store.js';
import { LogStore } from '../../store/log.store.js';
import { MemberStore } from '../../store/member.store.js';
import { PauseStore } from '../../store/pause.store.js';
import { PoolStore } from '../../store/pool.store.js';
import { PoolLoadStore } from '../../store/pool-load.store.js';
import { PredictionStore } from '../../store/prediction.store.js';
import { ProgressStore } from '../../store/progress.store.js';
import { RegistryStore } from '../../store/registry.store.js';
import { RegradeStore } from '../../store/regrade.store.js';
import { ResultStore } from '../../store/result.store.js';
import { RetentionStore } from '../../store/retention.store.js';
import { RetryStore } from '../../store/retry.store.js';
import { RunStore } from '../../store/run.store.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import { ScorecardNotes } from '../../store/scorecard-notes.js';
import { WaitingStore } from '../../store/waiting.store.js';
import { WorkspaceStore } from '../../store/workspace.store.js';
import { AccessMode } from '../identity/access-mode.js';
import { CHECK_LABEL, CheckTokens } from '../runtimes/check-tokens.js';
import { EventStreams } from './event-streams.js';
import { IdempotencyService } from './idempotency.service.js';
import { MissingService } from './missing.service.js';
import { Operator } from './operator.js';
import { PlacementService } from './placement.service.js';
import { ReferencesService } from './references.service.js';
import { RegistryService } from './registry.service.js';
import { WorkflowClient } from './workflow.client.js';

const STORES = [
  AttemptStore,
  AuditStore,
  BaselineStore,
  CandidateStore,
  CensusStore,
  CiBindingStore,
  DatasetStore,
  DeletionStore,
  DialStore,
  DurationStore,
  ExportStore,
  EarlyStopStore,
  GatePolicyStore,
  GateStore,
  HarnessStore,
  HolderStore,
  IdempotencyStore,
  InvariantStore,
  KeyStore,
  KnownRuntimeStore,
  LocalHostStore,
  LogStore,
  MemberStore,
  PauseStore,
  PoolLoadStore,
  PoolStore,
  PredictionStore,
  ProgressStore,
  ResultStore,
  RegistryStore,
  RegradeStore,
  RetentionStore,
  RetryStore,
  RunStore,
  RuntimeStore,
  ScorecardStore,
  WaitingStore,
  WorkspaceStore,
];

/** What the process owns and hands in. */
export interface CommonParts {
  env: Env;
  dataSource: DataSource;
  workflows: WorkflowClient;
  log: JsonLog;
}

export interface CommonProviders extends CommonParts {
  registry: Registry;
  mode: AccessMode;
}

@Module({})
class CommonModule {}

/** What every resource uses. */
export function commonModule({ env, dataSource, workflows, log, registry, mode }: CommonProviders): DynamicModule {
  const sealer = new Sealer(env.EVERDICT_SECRETS_KEY);
  const hidden = new HiddenValues();
  log.maskWith((text) => hidden.without(text));
  const secrets = new SecretStore({ dataSource, sealer, hide: (value) => hidden.add(value) });
  const credentials = new ClusterCredentials(secrets);
  const egress = new Egress(env.EVERDICT_EGRESS_ALLOW);
  const operator = new Operator(env);
  const providers = [
    { provide: DataSource, useValue: dataSource },
    { provide: WorkflowClient, useValue: workflows },
    { provide: JsonLog, useValue: log },
    { provide: Registry, useValue: registry },
    { provide: AccessMode, useValue: mode },
    { provide: Egress, useValue: egress },
    { provide: CheckTokens, useValue: new CheckTokens(sealer.derive(CHECK_LABEL)) },
    { provide: Operator, useValue: operator },
    { provide: SecretStore, useValue: secrets },
    { provide: SecretNamings, useValue: new SecretNamings(dataSource) },
    { provide: SecretRotation, useValue: new SecretRotation(dataSource, sealer) },
    { provide: ClusterCredentials, useValue: credentials },
    {
      provide: BackendResolver,
      useValue: new BackendResolver({ clusters: { ...operator.clusters, egress, credentials } }),
    },
    ...STORES.map((Store) => ({ provide: Store, useFactory: () => new Store(dataSource) })),
    { provide: EventStreams, useFactory: () => new EventStreams(log) },
    { provide: ScorecardNotes, useFactory: () => new ScorecardNotes(env.DATABASE_URL) },
    IdempotencyService,
    MissingService,
    PlacementService,
    ReferencesService,
    RegistryService,
  ];
  return { module: CommonModule, global: true, providers, exports: providers };
}
