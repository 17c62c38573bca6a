import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type PostgresServer, startPostgres } from '../../../dev/postgres.js';
import { identify, isAlive } from '../../../dev/process-id.js';
import { createDataSource, migrate } from '../../../store/data-source.js';
import { PoolStore } from '../../../store/pool.store.js';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const db = await createDataSource({ url, poolSize: 1 }).initialize();
  try {
    return await db.query(sql);
  } finally {
    await db.destroy();
  }
}

async function killed({ pid }: PostgresServer): Promise<void> {
  const target = identify(pid);
  process.kill(pid, 'SIGKILL');
  while (isAlive(target)) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('embedded Postgres', () => {
  let dir: string;
  let server: PostgresServer;
  beforeAll(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'everdict-embedded-'));
    server = await startPostgres({ dataDir: path.join(dir, 'postgres') });
    await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  }, 30_000);
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const restart = async () => {
    server = await startPostgres({ dataDir: path.join(dir, 'postgres'), port: server.port });
  };
  const kept = async () => (await query(server.url, 'SELECT count(*) AS n FROM kept'))[0]?.n;

  test('keeps its data, its port and its password between starts', async () => {
    const before = server.url;
    await server.stop();
    expect(isAlive(identify(server.pid))).toBe(false);
    await restart();

    expect(server.url).toBe(before);
    expect(await kept()).toBe(1);
  });

  test('recovers what is committed after kill -9', async () => {
    await query(server.url, 'INSERT INTO kept VALUES (2)');
    await killed(server);
    await restart();

    expect(await kept()).toBe(2);
  });

  test('starts although the pid of the killed server belongs to another program now', async () => {
    await killed(server);
    const stale = [process.pid, path.join(dir, 'postgres'), 1, server.port, '', '127.0.0.1', '0 0', 'ready', ''];
    writeFileSync(path.join(dir, 'postgres/postmaster.pid'), stale.join('\n'));
    await restart();

    expect(await kept()).toBe(2);
  });

  test('refuses a second server on the same data, by pid', async () => {
    await expect(startPostgres({ dataDir: path.join(dir, 'postgres') })).rejects.toThrow(`pid ${server.pid}`);
  });

  test('refuses a directory that holds something else', async () => {
    await expect(startPostgres({ dataDir: dir })).rejects.toThrow('holds no Postgres data');
  });

  test('names a port that is taken', async () => {
    const second = startPostgres({ dataDir: path.join(dir, 'second'), port: server.port });

    await expect(second).rejects.toThrow(String(server.port));
  });

  test('is named as unavailable while it is away, and is back for a pool that was connected', async () => {
    const db = await createDataSource({ url: server.url, poolSize: 4 }).initialize();
    await Promise.all([1, 2, 3].map(() => db.query('SELECT pg_sleep(0.05)')));
    await killed(server);
    await expect(new PoolStore(db).active()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await restart();

    await migrate(db);
    expect(await db.query('SELECT id FROM workspaces')).toEqual([{ id: 'default' }]);
    await db.destroy();
  });
});
