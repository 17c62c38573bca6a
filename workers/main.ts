import { Client, type Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { DataSource } from 'typeorm';
import { type LocalHost, readLocalHost } from '../backends/local/local.host.js';
import { type Env, readEnv } from '../config/env.js';
import { patiently } from '../config/patiently.js';
import { exposition } from '../config/registry.js';
import { type TemporalConnection, temporalConnection } from '../config/temporal.js';
import { VERSION } from '../config/version.js';
import { HiddenValues } from '../policy/redact.js';
import { readyDatabase } from '../store/data-source.js';
import { DatabaseRefused } from '../store/database-refused.js';
import { LocalHostStore } from '../store/local-host.store.js';
import { workflowBundle } from './bundle.js';
import { compose } from './compose.js';
import { WorkerLog } from './log.js';
import { MetricsServer } from './metrics-server.js';
import { FailedTasks, installRuntime, type SdkMetrics } from './sdk-metrics.js';
import { connectClient, registerSearchAttributes, requireServer } from './temporal-boot.js';
import type { WorkerMetrics } from './worker-metrics.js';
import { createWorkers } from './workers.js';

const log = new WorkerLog();
const POOL_SIZE = 20;
const LOCAL_JOBS_READ =
  'local jobs run as the user of this worker: who may run them can read EVERDICT_SECRETS_KEY, and with it every secret';

/** Serves every task queue until SIGTERM; then lets short work end and hands long work over. */
async function main(): Promise<void> {
  const env = readEnv();
  const sdk = await installRuntime({ logger: log, shutdownSignals: [] });
  const stopping = stopOnSignal();
  const temporal = temporalConnection(env);
  const dataSource = await connectDatabase(env, stopping);
  const connection = await connectTemporal(temporal, env.TEMPORAL_NAMESPACE, stopping);
  const hidden = new HiddenValues();
  log.maskWith((text) => hidden.without(text));
  const hide = (value: string): void => hidden.add(value);
  const localHost = env.EVERDICT_ALLOW_LOCAL_RUNTIMES ? await claimHost(env, dataSource) : undefined;
  if (localHost && env.EVERDICT_SECRETS_KEY.length > 0) log.warn(LOCAL_JOBS_READ);
  const native = await NativeConnection.connect(temporal);
  const client = new Client({ connection, namespace: env.TEMPORAL_NAMESPACE });
  const { activities, metrics, outbox, close } = compose({ env, dataSource, client, log, hide, localHost });
  const workers = await createWorkers({
    connection: native,
    namespace: env.TEMPORAL_NAMESPACE,
    workflowBundle: await workflowBundle(),
    activities,
    metrics,
    queues: localHost ? ['control', 'cases', 'local'] : ['control', 'cases'],
  });

  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  stopping.addEventListener('abort', shutdown, { once: true });
  const running = Promise.all(workers.map((worker) => worker.run().finally(shutdown)));
  if (stopping.aborted) shutdown();
  outbox.start();
  const served = await serveMetrics(env, metrics, sdk);
  log.info('worker ready', { namespace: env.TEMPORAL_NAMESPACE, local: localHost?.id ?? null });
  try {
    await running;
  } finally {
    served.stop();
    await outbox.stop();
    close();
    await native.close();
    await connection.close();
    await dataSource.destroy();
  }
  log.info('worker stopped');
}

/** Asked to stop while it still waited for what it needs. */
class StoppedEarly extends Error {}

function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info('worker stopping', { signal });
      controller.abort(new StoppedEarly(signal));
    });
  }
  return controller.signal;
}

function connectDatabase(env: Env, stopping: AbortSignal): Promise<DataSource> {
  const statementMs = env.EVERDICT_STATEMENT_SEC * 1_000;
  const options = { url: env.DATABASE_URL, poolSize: POOL_SIZE, applicationName: 'everdict-worker', statementMs };
  const isFinal = (error: unknown) => error instanceof DatabaseRefused;
  return readyDatabase(options, VERSION, (connect) =>
    patiently('Postgres', { log, signal: stopping, isFinal }, connect),
  );
}

async function connectTemporal(
  temporal: TemporalConnection,
  namespace: string,
  stopping: AbortSignal,
): Promise<Connection> {
  const waiting = { log, signal: stopping };
  const connection = await patiently(`Temporal at ${temporal.address}`, waiting, () => connectClient(temporal));
  try {
    await requireServer(connection, temporal.address);
    await patiently(`namespace ${namespace} of Temporal`, waiting, () =>
      registerSearchAttributes(connection, namespace),
    );
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Our own metrics and the SDK's, at one address. */
async function serveMetrics({ EVERDICT_METRICS_ADDRESS: address }: Env, metrics: WorkerMetrics, sdk: SdkMetrics) {
  const failedTasks = new FailedTasks(sdk, log, metrics.registry);
  const read = async (): Promise<string> => {
    const theirs = await sdk.read().catch(() => {
      metrics.scrapeErrors.inc({ source: 'sdk' });
      return '';
    });
    failedTasks.look(theirs);
    return (await exposition(metrics.registry)) + theirs;
  };
  const server = new MetricsServer({ address, read, log });
  failedTasks.watch();
  await server.start();
  return {
    stop: () => {
      failedTasks.stop();
      server.stop();
    },
  };
}

/** Local jobs live on one machine: another one may not take them over by accident. */
async function claimHost(env: Env, dataSource: DataSource): Promise<LocalHost> {
  const host = await readLocalHost(env.EVERDICT_STATE_DIR);
  const claim = await new LocalHostStore(dataSource).claim(host.id, env.EVERDICT_TAKE_OVER);
  if (claim.kind === 'claimed') return host;
  throw new Error(
    `host ${claim.hostId} serves local runtimes, and this is ${host.id}: stop its workers and start this one with ` +
      'EVERDICT_TAKE_OVER=1 to take over, or without EVERDICT_ALLOW_LOCAL_RUNTIMES',
  );
}

main().catch((error: unknown) => {
  if (error instanceof StoppedEarly) return log.info('worker stopped');
  log.error('worker failed', { error });
  process.exitCode = 1;
  setImmediate(() => process.exit());
});
