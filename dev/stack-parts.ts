import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnv, givenTemporal } from '../config/cli-env.js';
import type { DataPaths } from './data-dir.js';
import { startNodeProcess } from './node-process.js';
import type { Running } from './part.js';
import { startPostgres } from './postgres.js';
import { startTemporal } from './temporal-server.js';

const HOST = '127.0.0.1';
const READY_WITHIN_MS = 60_000;
/** Where the built programs are, as seen from the launcher's source and from its built form. */
const DIST = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../dist/' : '../', import.meta.url));

/** Ports of the parts. Those of Postgres and Temporal are known once they first came up, and kept for a restart. */
export interface Ports {
  api: number;
  temporalUi: number;
  temporal?: number;
  postgres?: number;
}

/** Where the parts find each other; known once those they need are up. */
export interface Addresses {
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl?: string;
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
  const { url, port, pid, stop } = await startPostgres({ dataDir: paths.postgres, port: ports.postgres });
  ports.postgres = port;
  addresses.databaseUrl = url;
  return { pid, stop, detail: `port ${port}` };
}

export async function startTemporalServer(context: PartContext): Promise<Running> {
  const { paths, ports, addresses, say } = context;
  const given = givenTemporal();
  if (given) {
    addresses.temporalAddress = given;
    return { stop: async () => {}, detail: `${given}, from TEMPORAL_ADDRESS` };
  }
  const server = await startTemporal({
    dbFile: paths.temporal,
    port: ports.temporal,
    uiPort: ports.temporalUi,
    headless: false,
    say: (line) => say(`  ${line}`),
  });
  addresses.temporalAddress = server.address;
  addresses.temporalUiUrl = server.uiUrl;
  return { pid: server.pid, stop: () => server.stop(), detail: server.uiUrl ?? server.address };
}

export async function startApi(context: PartContext): Promise<Running> {
  const url = `http://${HOST}:${context.ports.api}`;
  const spec = {
    name: 'api',
    script: path.join(DIST, 'api/main.js'),
    env: environment(context),
    logFile: path.join(context.paths.logs, 'api.log'),
    readyWithinMs: READY_WITHIN_MS,
    // By its log first: on a port that was just taken, somebody else might answer.
    isReady: (log: string) => log.includes('api ready') && answers(`${url}/readyz`),
  };
  return { ...(await startNodeProcess(spec, context.signal)), detail: url };
}

export async function startWorker(context: PartContext): Promise<Running> {
  const logFile = path.join(context.paths.logs, 'worker.log');
  const spec = {
    name: 'worker',
    script: path.join(DIST, 'workers/main.js'),
    env: environment(context),
    logFile,
    readyWithinMs: READY_WITHIN_MS,
    isReady: (log: string) => log.includes('worker ready'),
  };
  return { ...(await startNodeProcess(spec, context.signal)), detail: `log in ${path.relative('', logFile)}` };
}

function environment({ addresses, ports, paths, env }: PartContext): NodeJS.ProcessEnv {
  return childEnv({
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    ...(givenTemporal() ? {} : { TEMPORAL_NAMESPACE: 'default' }),
    EVERDICT_HOST: HOST,
    PORT: String(ports.api),
    EVERDICT_STATE_DIR: paths.state,
    EVERDICT_ALLOW_LOCAL_RUNTIMES: '1',
    ...env,
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
