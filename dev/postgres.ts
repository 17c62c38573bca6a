import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase } from '../store/data-source.js';
import { DatabaseRefused } from '../store/database-refused.js';
import { openLog, tailOf } from './log-file.js';
import { choosePorts } from './ports.js';
import { damaged, explainInitFailure, explainPostgresFailure, holdsCluster } from './postgres-data.js';
import { type Account, postgresAccount, reachableDataDir, usableInstall } from './postgres-install.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const HOST = '127.0.0.1';
const MAJOR = '18';
const PASSWORD_FILE = 'everdict.password';
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;
/** Line of postmaster.pid, from 0, that says how far the start is. */
const STATUS_LINE = 7;
/** Backends of a killed server take a moment to notice. */
const OLD_BACKENDS = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/;
const PORT_TAKEN = /could not bind|Address already in use/;
const START_TRIES = 40;

export interface PostgresOptions {
  /** Where the data is kept between starts. Absent: a temporary directory, removed by `stop`. */
  dataDir?: string;
  /** Absent: a free one. */
  port?: number;
  /** Absent: in the data directory. */
  logFile?: string;
  /** Safe from a power cut too. Default: where `dataDir` is given. What is committed is always safe from our crashes. */
  isDurable?: boolean;
}

export interface PostgresServer {
  url: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

interface Cluster {
  dataDir: string;
  logFile: string;
  bin: string;
  account: Account | undefined;
  isDurable: boolean;
}

/**
 * Starts the embedded Postgres on loopback, ready for connections. A directory that a killed server left is recovered;
 * one whose server still runs is refused by its pid.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { dataDir } = options;
  if (dataDir) return start({ isDurable: true, ...options, dataDir: path.resolve(dataDir) });
  const temporary = await fs.mkdtemp(path.join(os.tmpdir(), 'everdict-pg-'));
  const remove = () => fs.rm(temporary, { recursive: true, force: true });
  try {
    const server = await start({ isDurable: false, ...options, dataDir: path.join(temporary, 'data') });
    return { ...server, stop: () => server.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** How to connect to the server of a data directory. */
export const embeddedUrl = async (dataDir: string, port: number): Promise<string> =>
  urlOf(await passwordOf(dataDir), port);

const urlOf = (password: string, port: number): string => `postgres://postgres:${password}@${HOST}:${port}/postgres`;

async function passwordOf(dataDir: string): Promise<string> {
  try {
    return (await fs.readFile(path.join(dataDir, PASSWORD_FILE), 'utf8')).trim();
  } catch (cause) {
    throw new Error(damaged(dataDir, `${PASSWORD_FILE} is missing`), { cause });
  }
}

type StartOptions = PostgresOptions & { dataDir: string; isDurable: boolean };

async function start(options: StartOptions): Promise<PostgresServer> {
  const account = await postgresAccount();
  const dataDir = await reachableDataDir(options.dataDir, account);
  const { isDurable, logFile = path.join(dataDir, 'everdict.log') } = options;
  const cluster: Cluster = {
    dataDir,
    logFile,
    bin: path.join(await usableInstall(account), 'bin'),
    account,
    isDurable,
  };
  await initialise(cluster);
  await refuseSecondServer(cluster);
  const password = await passwordOf(cluster.dataDir);
  const { server, port } = await launch(cluster, options.port);
  const url = urlOf(password, port);
  // SIGINT: clients are cut off and what is committed is safe. SIGTERM would wait for them.
  const stop = () => endProcess(server, 'SIGINT', STOP_WITHIN_MS);
  try {
    await requireEntry(url, cluster.dataDir);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, port, pid: server.pid, stop };
}

/** Those who come later would blame a setting of theirs. */
async function requireEntry(url: string, dataDir: string): Promise<void> {
  try {
    const db = await openDatabase({ url, poolSize: 1, applicationName: 'everdict-dev' });
    await db.destroy();
  } catch (error) {
    if (!(error instanceof DatabaseRefused)) throw error;
    throw new Error(damaged(dataDir, `it does not let us in with what ${PASSWORD_FILE} says`), { cause: error });
  }
}

const childOptions = ({ account }: Cluster) => ({
  ...account,
  cwd: '/',
  env: { PATH: '/usr/bin:/bin', LANG: 'C', LC_ALL: 'C', TZ: 'UTC' },
});

/** Makes the data directory if there is none: beside its place and then renamed, so that a kill leaves none half made. */
async function initialise(cluster: Cluster): Promise<void> {
  const { dataDir, account } = cluster;
  if (await holdsCluster(dataDir, MAJOR)) return;
  const draft = `${dataDir}.init`;
  await fs.rm(draft, { recursive: true, force: true });
  await fs.mkdir(draft, { mode: 0o700 });
  const passwordFile = `${dataDir}.password`;
  await fs.writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
  if (account) for (const file of [draft, passwordFile]) await fs.chown(file, account.uid, account.gid);
  const flags = ['--auth=scram-sha-256', '--username=postgres', '--encoding=UTF8', '--locale-provider=builtin'];
  const places = [`--pgdata=${draft}`, `--pwfile=${passwordFile}`];
  try {
    const initdb = path.join(cluster.bin, 'initdb');
    await promisify(execFile)(initdb, [...flags, ...places, '--locale=C.UTF-8', '--no-sync'], childOptions(cluster));
  } catch (cause) {
    throw new Error(explainInitFailure(String((cause as { stderr?: string }).stderr || cause), dataDir), { cause });
  }
  await fs.rename(passwordFile, path.join(draft, PASSWORD_FILE));
  await fs.rm(dataDir, { recursive: true, force: true });
  await fs.rename(draft, dataDir);
}

const readPidFile = (dataDir: string): Promise<string[]> =>
  fs.readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').then(
    (text) => text.split('\n').map((line) => line.trim()),
    () => [],
  );

/** A pid file may be stale, and its pid by now another program's, which Postgres would take for a server. */
async function refuseSecondServer({ dataDir }: Cluster): Promise<void> {
  const pid = Number((await readPidFile(dataDir))[0]);
  if (!pid) return;
  const cwd = await fs.readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (cwd === (await fs.realpath(dataDir))) {
    throw new Error(`a Postgres with pid ${pid} already serves ${dataDir}: stop it first`);
  }
  if (os.platform() === 'linux') await fs.rm(path.join(dataDir, 'postmaster.pid'), { force: true });
}

/** Starts the server, again while its port is taken by a race or the backends of its predecessor linger. */
async function launch(cluster: Cluster, wanted: number | undefined): Promise<{ server: ProcessId; port: number }> {
  for (let tries = 1; ; tries++) {
    const port = wanted ?? (await choosePorts({ postgres: 0 })).postgres;
    const outcome = await launchOnce(cluster, port);
    if ('server' in outcome) return { server: outcome.server, port };
    const isTransient = OLD_BACKENDS.test(outcome.failure) || (PORT_TAKEN.test(outcome.failure) && !wanted);
    if (!isTransient || tries === START_TRIES) {
      throw new Error(explainPostgresFailure(outcome.failure, cluster.dataDir, port));
    }
    await sleep(250);
  }
}

async function launchOnce(cluster: Cluster, port: number): Promise<{ server: ProcessId } | { failure: string }> {
  const { dataDir, logFile, bin, isDurable } = cluster;
  const settings = {
    port,
    listen_addresses: HOST,
    unix_socket_directories: '',
    max_connections: 200,
    // Parallel plans need more of /dev/shm than some containers have.
    max_parallel_workers_per_gather: 0,
    ...(!isDurable && { fsync: 'off', full_page_writes: 'off' }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { fd: log, from } = openLog(logFile);
  // A session of its own: Ctrl-C in the terminal must not end it before those who use it.
  const child = spawn(path.join(bin, 'postgres'), ['-D', dataDir, ...flags], {
    ...childOptions(cluster),
    detached: true,
    stdio: ['ignore', log, log],
  });
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const { pid } = child;
  closeSync(log);
  if (pid === undefined) return { failure: (await failed).message };
  child.unref();
  const server = identify(pid);
  if (await isReady(dataDir, server)) return { server };
  await endProcess(server, 'SIGINT', STOP_WITHIN_MS);
  return { failure: tailOf(logFile, from) };
}

/** Waits until the server says so; false once it has ended, or takes too long. */
async function isReady(dataDir: string, server: ProcessId): Promise<boolean> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (isAlive(server) && performance.now() < deadline) {
    const lines = await readPidFile(dataDir);
    if (Number(lines[0]) === server.pid && lines[STATUS_LINE] === 'ready') return true;
    await sleep(10);
  }
  return false;
}
