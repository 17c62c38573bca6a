import 'reflect-metadata';
import { BackendResolver } from '../backends/resolver.js';
import { readEnv } from '../config/env.js';
import { JsonLog } from '../config/log.js';
import { patiently } from '../config/patiently.js';
import { VERSION } from '../config/version.js';
import { readyDatabase } from '../store/data-source.js';
import { DatabaseRefused } from '../store/database-refused.js';
import { createApp } from './app.js';
import { WorkflowClient } from './common/workflow.client.js';
import { AccessMode, refuseOpenBind } from './identity/access-mode.js';
import { SharedLoader } from './shared/shared-loader.js';

const STOP_WITHIN_MS = 20_000;

const log = new JsonLog();

/** Migrates, listens, and ends on SIGTERM or SIGINT once what it began is answered. */
async function main(): Promise<void> {
  const env = readEnv();
  const statementMs = env.EVERDICT_STATEMENT_SEC * 1_000;
  const options = { url: env.DATABASE_URL, applicationName: 'everdict-api', statementMs };
  const isFinal = (error: unknown) => error instanceof DatabaseRefused;
  const dataSource = await readyDatabase(options, VERSION, (connect) =>
    patiently('Postgres', { log, isFinal }, connect),
  );
  const workflows = WorkflowClient.lazy(env, log);
  await workflows.refuseOldServer();
  const app = await createApp({ env, dataSource, workflows, log });
  const mode = app.get(AccessMode);
  refuseOpenBind(env.EVERDICT_HOST, mode);
  if (env.EVERDICT_SHARED_DIR !== undefined) {
    const dir = env.EVERDICT_SHARED_DIR;
    const { fresh, warnings } = await app.get(SharedLoader).load(dir);
    log.info('shared files registered', { dir, fresh });
    for (const warning of warnings) log.warn('a shared file would not be registered any more', { dir, warning });
  }
  await app.listen({ port: env.PORT, host: env.EVERDICT_HOST });

  let isStopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log.info('api stopping', { signal });
    setTimeout(() => fail(new Error(`requests were not answered within ${STOP_WITHIN_MS} ms`)), STOP_WITHIN_MS).unref();
    await app.close();
    app.get(BackendResolver).close();
    await workflows.close();
    await dataSource.destroy();
    log.info('api stopped');
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(fail));
  }
  if (!mode.isOn) log.warn('development mode: authentication is off, whoever reaches this port may do everything');
  log.info('api ready', { url: await app.getUrl() });
}

function fail(error: unknown): void {
  log.error('api failed', { error });
  process.exitCode = 1;
  setImmediate(() => process.exit());
}

main().catch(fail);
