import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { childEnv, devEgress, givenTemporal, hasSecretsKey } from '../config/cli-env.js';
import { readTemporalEnv, refuseOldTemporal, temporalConnection } from '../config/temporal.js';
import type { DataPaths } from './data-dir.js';
import { logOf } from './log-file.js';
import { startNodeProcess } from './node-process.js';
import type { Running } from './part.js';
import { choosePorts, whyTaken } from './ports.js';
import { startPostgres } from './postgres.js';
import { admitPostgresData, keepPostgresData } from './postgres-data.js';
import { keptSecretsKey } from './secrets-key.js';
import { findTemporalCli } from './temporal-binary.js';
import { admitTemporalData, explainTemporalFailure, keepTemporalData } from './temporal-data.js';
import { startTemporal } from './temporal-server.js';

const HOST = '127.0.0.1';
const READY_WITHIN_MS = 60_000;
const GIVEN_WITHIN_MS = 10_000;
/** Where the built programs are, as seen from the launcher's source and from its built form. */
const DIST = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../dist/' : '../', import.meta.url));

/** Wanted ports; a taken one is replaced by a free one. What a part first came up on is kept for its restarts. */
export interface Ports {
  api?: number;
  temporalUi?: number;
  temporal?: number;
  postgres?: number;
  workerMetrics?: number;
}

/** Where the parts find each other; known once those they need are up. */
export interface Addresses {
  databaseUrl?: string;
  temporalAddress?: string;
  temporalUiUrl?: string;
  apiUrl?: string;
  workerMetricsUrl?: string;
}

export interface PartContext {
  paths: DataPaths;
  ports: Ports;
  addresses: Addresses;
  /** Environment of the API and the worker, on top of ours. */
  env: Record<string, string>;
  signal: AbortSignal;
  say(line: string): void;
}

export async function startDatabase({ paths, ports, addresses }: PartContext): Promise<Running> {
  await admitPostgresData(paths);
  const { url, port, pid, stop } = await startPostgres({
    dataDir: paths.postgres,
    logFile: logOf(paths, 'postgres'),
    port: ports.postgres,
  });
  keepPostgresData(paths);
  ports.postgres = port;
  addresses.databaseUrl = url;
  return { pid, stop, detail: `port ${port}` };
}

export async function startTemporalServer({ paths, ports, addresses, say }: PartContext): Promise<Running> {
  const given = givenTemporal();
  if (given) {
    await requireGivenServer();
    addresses.temporalAddress = given;
    return { stop: async () => {}, detail: `${given}, from TEMPORAL_ADDRESS` };
  }
  const cli = await findTemporalCli((line) => say(`  ${line}`));
  admitTemporalData(paths, cli.serverVersion);
  const files = { dbFile: paths.temporal, logFile: logOf(paths, 'temporal') };
  const start = (port: number | undefined, uiPort: number | undefined) =>
    startTemporal({ cli, ...files, port, uiPort, headless: false });
  const isFirst = addresses.temporalAddress === undefined;
  if (isFirst) await tellIfTaken(ports.temporalUi, 'the Temporal UI', '--ui-port', say);
  const server = await start(ports.temporal, ports.temporalUi)
    .catch((error: unknown) => {
      if (isFirst && isPortTaken(error)) return start(undefined, undefined);
      throw error;
    })
    .catch((error: unknown) => {
      throw explainTemporalFailure(error, paths);
    });
  keepTemporalData(paths);
  addresses.temporalAddress = server.address;
  addresses.temporalUiUrl = server.uiUrl;
  ports.temporal = portOf(server.address);
  ports.temporalUi = portOf(server.uiUrl);
  return { pid: server.pid, stop: () => server.stop(), detail: server.uiUrl ?? server.address };
}

/** One that is away or too old is told now, not by whoever would wait for it. */
async function requireGivenServer(): Promise<void> {
  const options = temporalConnection(readTemporalEnv());
  const connection = await Connection.connect({ ...options, connectTimeout: GIVEN_WITHIN_MS }).catch(
    (cause: unknown) => {
      const message = `no Temporal server answers at ${options.address}, which TEMPORAL_ADDRESS names`;
      throw new Error(`${message}: start it, or unset TEMPORAL_ADDRESS for one of our own`, { cause });
    },
  );
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    refuseOldTemporal(serverVersion ?? '', options.address);
  } finally {
    await connection.close();
  }
}

export async function startApi(context: PartContext): Promise<Running> {
  const { ports, addresses } = context;
  const isFirst = addresses.apiUrl === undefined;
  const { api = 0 } = ports;
  if (isFirst) await tellIfTaken(ports.api, 'the API', '--port', context.say);
  const port = isFirst ? (await choosePorts({ api })).api : api;
  return startApiOn(port, context).catch((error: unknown) => {
    if (isFirst && isPortTaken(error)) return startApiOn(0, context);
    throw error;
  });
}

async function startApiOn(port: number, context: PartContext): Promise<Running> {
  let url: string | undefined;
  const spec = {
    name: 'api',
    script: path.join(DIST, 'api/main.js'),
    env: { ...environment(context), PORT: String(port) },
    logFile: logOf(context.paths, 'api'),
    readyWithinMs: READY_WITHIN_MS,
    isReady: async (log: string) => {
      // Its log says where it listens, also on a port of its own choice.
      url = /"message":"api ready","url":"([^"]+)"/.exec(log)?.[1];
      return url !== undefined && (await answers(`${url}/readyz`));
    },
  };
  const running = await startNodeProcess(spec, context.signal);
  context.addresses.apiUrl = url;
  context.ports.api = portOf(url);
  return { ...running, detail: url ?? '' };
}

/** Another port is no failure, but may be a surprise. */
async function tellIfTaken(
  wanted: number | undefined,
  what: string,
  option: string,
  say: PartContext['say'],
): Promise<void> {
  const reason = wanted === undefined ? undefined : await whyTaken(wanted);
  if (reason) say(`  ${reason}: ${what} gets the next free one; ${option} <port> chooses`);
}

const portOf = (address = ''): number => Number(address.slice(address.lastIndexOf(':') + 1));

const isPortTaken = (error: unknown): boolean => /EADDRINUSE|address already in use/i.test(String(error));

export async function startWorker(context: PartContext): Promise<Running> {
  const { ports, addresses } = context;
  const logFile = logOf(context.paths, 'worker');
  const metricsPort = ports.workerMetrics;
  const spec = {
    name: 'worker',
    script: path.join(DIST, 'workers/main.js'),
    env: {
      ...environment(context),
      ...(metricsPort !== undefined && { EVERDICT_METRICS_ADDRESS: `${HOST}:${metricsPort}` }),
    },
    logFile,
    readyWithinMs: READY_WITHIN_MS,
    isReady: (log: string) => {
      addresses.workerMetricsUrl = /"message":"metrics ready","url":"([^"]+)"/.exec(log)?.[1];
      return log.includes('worker ready');
    },
  };
  const running = await startNodeProcess(spec, context.signal);
  if (addresses.workerMetricsUrl) ports.workerMetrics = Number(new URL(addresses.workerMetricsUrl).port);
  return { ...running, detail: `log in ${shortest(logFile)}` };
}

/** As seen from where the user is, unless that goes upwards. */
function shortest(file: string): string {
  const relative = path.relative('', file);
  return relative.startsWith('..') ? file : relative;
}

function environment({ addresses, paths, env }: PartContext): NodeJS.ProcessEnv {
  return childEnv({
    DATABASE_URL: addresses.databaseUrl ?? '',
    TEMPORAL_ADDRESS: addresses.temporalAddress ?? '',
    ...(givenTemporal() ? {} : { TEMPORAL_NAMESPACE: 'default' }),
    ...(addresses.temporalUiUrl && { EVERDICT_TEMPORAL_UI: addresses.temporalUiUrl }),
    EVERDICT_HOST: HOST,
    // Whoever is on this machine may do everything.
    EVERDICT_AUTH: 'off',
    EVERDICT_STATE_DIR: paths.state,
    EVERDICT_ALLOW_LOCAL_RUNTIMES: '1',
    EVERDICT_EGRESS_ALLOW: devEgress(),
    ...givenOrKeptKey(paths),
    ...env,
  });
}

/** The operator's own keys, where the environment has some. */
const givenOrKeptKey = (paths: DataPaths): Record<string, string> =>
  hasSecretsKey() ? {} : { EVERDICT_SECRETS_KEY: keptSecretsKey(paths) };

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
