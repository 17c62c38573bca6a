import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { choosePorts } from './ports.js';
import { type Account, postgresAccount, reachableDataDir, usableInstall } from './postgres-install.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const HOST = '127.0.0.1';
const MAJOR = '18';
const PASSWORD_FILE = 'everdict.password';
const LOG_FILE = 'everdict.log';
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
  bin: string;
  account: Account | undefined;
  isDurable: boolean;
}

/**
 * Starts the embedded Postgres on loopback, ready for connections. A directory that a killed server left is recovered;
 * one whose server still runs is refused by its pid.
 */
export async function startPostgres({ dataDir, port, isDurable }: PostgresOptions = {}): Promise<PostgresServer> {
  if (dataDir) return start(path.resolve(dataDir), port, isDurable ?? true);
  const temporary = await fs.mkdtemp(path.join(os.tmpdir(), 'everdict-pg-'));
  const remove = () => fs.rm(temporary, { recursive: true, force: true });
  try {
    const server = await start(path.join(temporary, 'data'), port, isDurable ?? false);
    return { ...server, stop: () => server.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function start(dataDir: string, wanted: number | undefined, isDurable: boolean): Promise<PostgresServer> {
  const account = await postgresAccount();
  const cluster: Cluster = {
    dataDir: await reachableDataDir(dataDir, account),
    bin: path.join(await usableInstall(account), 'bin'),
    account,
    isDurable,
  };
  await initialise(cluster);
  await refuseSecondServer(cluster);
  const { server, port } = await launch(cluster, wanted);
  const password = (await fs.readFile(path.join(cluster.dataDir, PASSWORD_FILE), 'utf8')).trim();
  return {
    url: `postgres://postgres:${password}@${HOST}:${port}/postgres`,
    port,
    pid: server.pid,
    // SIGINT: clients are cut off and what is committed is safe. SIGTERM would wait for them.
    stop: () => endProcess(server, 'SIGINT', STOP_WITHIN_MS),
  };
}

const childOptions = ({ account }: Cluster) => ({
  ...account,
  cwd: '/',
  env: { PATH: '/usr/bin:/bin', LANG: 'C', LC_ALL: 'C', TZ: 'UTC' },
});

/** Makes the data directory if there is none: beside its place and then renamed, so that a kill leaves none half made. */
async function initialise(cluster: Cluster): Promise<void> {
  const { dataDir, account } = cluster;
  const version = await fs.readFile(path.join(dataDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version?.trim() === MAJOR) return;
  if (version) throw new Error(`${dataDir} holds data of Postgres ${version.trim()}, this is ${MAJOR}: move it away`);
  const content = await fs.readdir(dataDir).catch(() => []);
  if (content.length > 0)
    throw new Error(`${dataDir} is not empty and holds no Postgres data: choose another directory`);

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
    throw new Error(`initdb failed in ${dataDir}: ${(cause as { stderr?: string }).stderr ?? cause}`, { cause });
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
      throw new Error(`Postgres did not start on port ${port} in ${cluster.dataDir}:\n${outcome.failure}`);
    }
    await sleep(250);
  }
}

async function launchOnce(cluster: Cluster, port: number): Promise<{ server: ProcessId } | { failure: string }> {
  const { dataDir, bin, isDurable } = cluster;
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
  const logFile = path.join(dataDir, LOG_FILE);
  const log = await fs.open(logFile, 'a');
  const from = (await log.stat()).size;
  // A session of its own: Ctrl-C in the terminal must not end it before those who use it.
  const child = spawn(path.join(bin, 'postgres'), ['-D', dataDir, ...flags], {
    ...childOptions(cluster),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const { pid } = child;
  await log.close();
  if (pid === undefined) return { failure: (await failed).message };
  child.unref();
  const server = identify(pid);
  if (await isReady(dataDir, server)) return { server };
  await endProcess(server, 'SIGINT', STOP_WITHIN_MS);
  return { failure: (await fs.readFile(logFile)).subarray(from).toString().trim() };
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
