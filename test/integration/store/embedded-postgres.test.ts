import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
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

/** With those of its processes that answer clients, which learn of its end a moment later. */
async function killed({ pid }: PostgresServer): Promise<void> {
  const targets = [pid, ...childrenOf(pid)].map(identify);
  process.kill(pid, 'SIGKILL');
  while (targets.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

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

  /** A copy of data whose server was killed, damaged in one place, and what a start says of it. */
  async function startDamaged(name: string, damage: (dataDir: string) => void): Promise<string> {
    const dataDir = path.join(dir, name);
    await killed(server);
    cpSync(path.join(dir, 'postgres'), dataDir, { recursive: true, preserveTimestamps: true });
    execFileSync('chown', ['-R', '--reference', path.join(dir, 'postgres'), dataDir]);
    rmSync(path.join(dataDir, 'postmaster.pid'));
    damage(dataDir);
    await restart();
    return startPostgres({ dataDir }).then(
      () => 'started',
      (error: unknown) => String(error),
    );
  }

  test.each<[string, (dataDir: string) => void, RegExp]>([
    ['no PG_VERSION', (data) => rmSync(path.join(data, 'PG_VERSION')), /is damaged: PG_VERSION is missing/],
    [
      'an empty PG_VERSION',
      (data) => truncateSync(path.join(data, 'PG_VERSION')),
      /is damaged: PG_VERSION makes no sense/,
    ],
    [
      'a write-ahead log of zeros',
      (data) => {
        const wal = path.join(data, 'pg_wal');
        const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name);
        for (const name of readdirSync(wal).filter(isSegment))
          writeFileSync(path.join(wal, name), Buffer.alloc(16 << 20));
      },
      /checkpoint record.*is damaged: see above/s,
    ],
    ['a cut control file', (data) => truncateSync(path.join(data, 'global/pg_control'), 100), /is damaged: see above/],
    ['no password file', (data) => rmSync(path.join(data, 'everdict.password')), /everdict\.password is missing/],
    [
      'a password that is not its own',
      (data) => writeFileSync(path.join(data, 'everdict.password'), 'sesame\n'),
      /is damaged: it does not let us in with what everdict\.password says/,
    ],
  ])('data with %s is named, with the way out', async (what, damage, told) => {
    const said = await startDamaged(what.replaceAll(' ', '-'), damage);
    expect(said).toMatch(told);
    expect(said).toContain(`\`npx everdict dev reset --keep --dir ${dir}\` moves all data aside. Nothing was changed.`);
  });

  test('data of another major version is refused with both numbers', async () => {
    const said = await startDamaged('old', (data) => writeFileSync(path.join(data, 'PG_VERSION'), '17\n'));
    expect(said).toContain('holds data of Postgres 17, and this is 18, which cannot read it');
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
    expect(await db.query('SELECT id FROM workspaces')).toEqual([{ id: 'default' }, { id: '_shared' }]);
    await db.destroy();
  });
});
