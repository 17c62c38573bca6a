import type { Client } from '@temporalio/client';
import type { Logger } from '@temporalio/worker';
import type { DataSource } from 'typeorm';
import { AdmissionSender } from '../activities/admission-sender.js';
import { AttemptFinisher } from '../activities/attempt-finisher.js';
import { AttemptRunner } from '../activities/attempt-runner.js';
import { ClusterLeftovers } from '../activities/cluster-leftovers.js';
import { EndedAttempts } from '../activities/ended-attempts.js';
import { Holders } from '../activities/holders.js';
import { HostGuard } from '../activities/host-guard.js';
import {
  createAdmissionActivities,
  createAllocationActivities,
  createLeftoverActivities,
  createRegradeActivities,
  createScorecardActivities,
  createSessionActivities,
  createSweepActivities,
} from '../activities/index.js';
import { JobLoader } from '../activities/job-loader.js';
import { JobSecrets } from '../activities/job-secrets.js';
import { LeaseSurvey } from '../activities/lease-survey.js';
import { Leftovers } from '../activities/leftovers.js';
import { PauseJudge } from '../activities/pause-judge.js';
import { Egress } from '../backends/egress/guard.js';
import type { LocalHost } from '../backends/local/local.host.js';
import { BackendResolver } from '../backends/resolver.js';
import { SessionEndpoints } from '../backends/session-endpoints.js';
import { clusterSettings } from '../config/cluster-settings.js';
import type { Env } from '../config/env.js';
import { jobSettings } from '../config/job-settings.js';
import { VERSION } from '../config/version.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { ClusterCredentials } from '../secrets/cluster-credential.js';
import { Sealer } from '../secrets/sealer.js';
import { SecretStore } from '../secrets/secret.store.js';
import { AuditStore } from '../store/audit.store.js';
import { DeadlineStore } from '../store/deadline.store.js';
import { DurationStore } from '../store/duration.store.js';
import { EarlyStopStore } from '../store/early-stop.store.js';
import { LocalHostStore } from '../store/local-host.store.js';
import { OutboxStore } from '../store/outbox.store.js';
import { PauseStore } from '../store/pause.store.js';
import { PoolStore } from '../store/pool.store.js';
import { PredictionStore } from '../store/prediction.store.js';
import { RegradeStore } from '../store/regrade.store.js';
import { RetentionStore } from '../store/retention.store.js';
import { ScorecardStore } from '../store/scorecard.store.js';
import { SessionPoolStore } from '../store/session-pool.store.js';
import {
  MeasuredAttemptStore,
  MeasuredLogStore,
  MeasuredRunStore,
  MeasuredSweepStore,
  measuredBackends,
} from './measured.js';
import { Outbox } from './outbox.js';
import { SweepSchedule } from './sweep-schedule.js';
import { WorkerMetrics } from './worker-metrics.js';

interface Parts {
  env: Env;
  dataSource: DataSource;
  client: Client;
  log: Logger;
  /** Told every value of a secret that is opened, so that no log shows it. */
  hide?: (value: string) => void;
  /** Absent where this process serves no local runtimes. */
  localHost?: LocalHost;
}

export type Platform = ReturnType<typeof compose>;

/** Everything a worker process is made of. */
export function compose({ env, dataSource, client: { workflow: client, schedule }, log, hide, localHost }: Parts) {
  const metrics = new WorkerMetrics();
  const workflowTaskMs = env.EVERDICT_WORKFLOW_TASK_SEC * 1_000;
  const queueDeadlineSec = env.EVERDICT_QUEUE_DEADLINE_SEC;
  const runs = new MeasuredRunStore(dataSource, metrics);
  const attempts = new MeasuredAttemptStore(dataSource, metrics);
  const logs = new MeasuredLogStore(dataSource, metrics);
  const pools = new PoolStore(dataSource);
  const scorecards = new ScorecardStore(dataSource);
  const sweep = new MeasuredSweepStore(dataSource, metrics);
  const sender = new AdmissionSender(client, workflowTaskMs);
  const holders = new Holders(client, runs);
  const leases = new LeaseSurvey({ holders, pools, log });
  const jobs = new JobLoader(runs);
  const host = new HostGuard(new LocalHostStore(dataSource), localHost?.id);
  const secrets = new SecretStore({ dataSource, sealer: new Sealer(env.EVERDICT_SECRETS_KEY), hide });
  const egress = new Egress(env.EVERDICT_EGRESS_ALLOW);
  const resolver = new BackendResolver({
    local: localHost && localOptions(env, localHost),
    clusters: {
      credentials: new ClusterCredentials(secrets),
      egress,
      ...clusterSettings(env),
    },
  });
  const backends = measuredBackends(resolver, metrics);
  const settings = jobSettings(env);
  const ended = new EndedAttempts();
  const unreachableMs = env.EVERDICT_UNREACHABLE_SEC * 1_000;

  const runner = new AttemptRunner({
    backends,
    jobs,
    secrets: new JobSecrets(secrets),
    settings,
    attempts,
    ended,
    host,
    logs,
    deployment: env.EVERDICT_DEPLOYMENT,
    version: VERSION,
    logBytes: env.EVERDICT_LOG_MB * 1_024 * 1_024,
  });
  const pauses = new PauseStore(dataSource);
  const finisher = new AttemptFinisher({
    logs,
    backends,
    jobs,
    pools,
    runs,
    attempts,
    ended,
    sender,
    host,
    pauses: new PauseJudge(pauses, sender, log),
    timers: settings.timers,
    cleanupMs: env.EVERDICT_CLEANUP_SEC * 1_000,
    unreachableMs,
  });
  const allocation = createAllocationActivities({
    runner,
    finisher,
    unreachableMs,
    refusedMs: env.EVERDICT_LINGER_SEC * 1_000,
  });
  const control = {
    ...createAdmissionActivities({ client, sender, pools, runs, leases, durations: new DurationStore(dataSource) }),
    ...createScorecardActivities({
      scorecards,
      deadlines: new DeadlineStore(dataSource),
      earlyStops: new EarlyStopStore(dataSource),
      runs,
      pauses,
      finisher,
      queueDeadlineSec,
    }),
    ...createRegradeActivities({ regrades: new RegradeStore(dataSource) }),
    ...createSweepActivities({
      ...{ sweep, holders, pools, sender, scorecards, runs },
      audit: new AuditStore(dataSource),
      predictions: new PredictionStore(dataSource),
      auditDays: env.EVERDICT_AUDIT_DAYS,
      retention: new RetentionStore(dataSource),
      graceSec: env.EVERDICT_DELETION_GRACE_SEC,
    }),
  };
  const sessions = createSessionActivities({
    sessions: new SessionPoolStore(dataSource),
    endpoints: new SessionEndpoints(egress),
  });
  const sweepSec = env.EVERDICT_SWEEP_SEC;
  const deployment = env.EVERDICT_DEPLOYMENT;
  const leftovers = new Leftovers(sweep, sweepSec * 1_000);
  const skipped = (kind: RuntimeKind, code: string): void => metrics.skippedClusters.inc({ kind, code });
  const clusters = new ClusterLeftovers({ backends, sweep, leftovers, deployment, log, skipped });
  const leftoverActivities = createLeftoverActivities({ backends, leftovers, clusters, deployment });
  const sweeps = new SweepSchedule(schedule, { everySec: sweepSec, workflowTaskMs });
  return {
    metrics,
    /** Ends connections to clusters. */
    close: () => resolver.close(),
    activities: {
      control,
      cases: { ...allocation, ...sessions, ...leftoverActivities },
      local: { ...allocation, ...leftoverActivities },
    },
    sweeps,
    outbox: new Outbox({
      client,
      scorecards,
      runs,
      outbox: new OutboxStore(dataSource),
      sweeps,
      workflowTaskMs,
      queueDeadlineSec,
      log,
    }),
  };
}

const localOptions = (env: Env, host: LocalHost) => ({
  isAllowed: env.EVERDICT_ALLOW_LOCAL_RUNTIMES,
  stateDir: env.EVERDICT_STATE_DIR,
  host,
  environment: { path: env.PATH, lang: env.LANG },
  graceMs: env.EVERDICT_GRACE_SEC * 1_000,
});
