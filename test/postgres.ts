import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { startPostgres } from '../dev/postgres.js';
import { createDataSource, migrate } from '../store/data-source.js';

const TEMPLATE = 'everdict_template';
/** That of docker-compose.temporal.yml. */
const CONTAINER_IMAGE = 'postgres:18.4-bookworm';
const isContained = process.env.EVERDICT_TEST_DB === 'container';
/** A container's image may have to be fetched first. */
const START_WITHIN_MS = isContained ? 300_000 : 60_000;

/** The one Postgres of a test run, as `server.json` in the run's directory says; the global teardown stops it by pid. */
interface SharedServer {
  url: string;
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

async function withConnection(url: string, work: (db: DataSource) => Promise<unknown>): Promise<void> {
  const db = await createDataSource({ url, poolSize: 2 }).initialize();
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

/** Starts Postgres for all test files of a run, with a migrated template database. */
async function startShared(dir: string): Promise<SharedServer> {
  const url = isContained ? await startContainer() : await startEmbedded(dir);
  await withConnection(url, (db) => db.query(`CREATE DATABASE ${TEMPLATE}`));
  await withConnection(withDatabase(url, TEMPLATE), migrate);
  return { url };
}

async function startEmbedded(dir: string): Promise<string> {
  const { url, pid } = await startPostgres({ dataDir: path.join(dir, 'postgres'), isDurable: false });
  await fs.writeFile(path.join(dir, 'postgres.pid'), String(pid));
  return url;
}

/** Where nothing may be installed but Docker. The library's reaper removes it once this run is over. */
async function startContainer(): Promise<string> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  try {
    const container = await new PostgreSqlContainer(CONTAINER_IMAGE)
      .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=300'])
      .start();
    return container.getConnectionUri();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `EVERDICT_TEST_DB=container needs a Docker engine (${why}): start one, or unset EVERDICT_TEST_DB for the embedded Postgres`,
      { cause },
    );
  }
}

/** The first file that needs the server starts it, the others wait for it. */
async function sharedServer(): Promise<SharedServer> {
  const dir = process.env.EVERDICT_TEST_DIR;
  if (!dir) throw new Error('EVERDICT_TEST_DIR is not set: this suite has no global setup');
  const file = path.join(dir, 'server.json');
  const isFirst = await fs.mkdir(path.join(dir, 'starting')).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const server = await startShared(dir);
    await fs.writeFile(`${file}.new`, JSON.stringify(server));
    await fs.rename(`${file}.new`, file);
    return server;
  }
  for (const deadline = performance.now() + START_WITHIN_MS; performance.now() < deadline; await sleep(20)) {
    const text = await fs.readFile(file, 'utf8').catch(() => undefined);
    if (text) return JSON.parse(text) as SharedServer;
  }
  throw new Error(`the shared Postgres did not start; see ${dir}/postgres`);
}

export interface TestDatabase {
  url: string;
  dataSource: DataSource;
  drop(): Promise<void>;
}

/** A database of its own for one test file: a clone of the migrated template, or an empty one. */
export async function createTestDatabase({
  poolSize = 10,
  isEmpty = false,
}: {
  poolSize?: number;
  isEmpty?: boolean;
} = {}): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withConnection(server.url, (db) => cloneDatabase(db, name, isEmpty ? 'template1' : TEMPLATE));
  const url = withDatabase(server.url, name);
  const dataSource = await createDataSource({ url, poolSize }).initialize();
  const drop = async () => {
    await dataSource.destroy();
    await withConnection(server.url, (db) => db.query(`DROP DATABASE ${name} WITH (FORCE)`));
  };
  return { url, dataSource, drop };
}

/** A template cannot be cloned twice at a time; the lock makes test files take turns. */
async function cloneDatabase(db: DataSource, name: string, template: string): Promise<void> {
  const runner = db.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock(1)');
    await runner.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    await runner.query('SELECT pg_advisory_unlock(1)');
  } finally {
    await runner.release();
  }
}
