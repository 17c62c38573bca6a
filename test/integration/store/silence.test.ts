import type { DataSource } from 'typeorm';
import { createDataSource, openDatabase, readyDatabase } from '../../../store/data-source.js';
import { rows, transaction } from '../../../store/sql.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { TcpProxy } from '../../tcp-proxy.js';

const STATEMENT_MS = 1_000;

let database: TestDatabase;
let proxy: TcpProxy;
/** Through the proxy. */
let far: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  const { hostname, port } = new URL(database.url);
  proxy = await TcpProxy.before({ host: hostname, port: Number(port) });
  far = await openDatabase({ url: throughProxy(), poolSize: 1, statementMs: STATEMENT_MS });
}, 60_000);
afterAll(async () => {
  await far.destroy();
  await proxy.close();
  await database.drop();
});

const throughProxy = (): string => Object.assign(new URL(database.url), { port: String(proxy.port) }).href;

test('a connection that falls silent under a statement is given up, and the next one works', async () => {
  const running = rows(far, 'SELECT pg_sleep(0.2)');
  proxy.freeze();
  await expect(running).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(await rows(far, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('what a silent connection had locked is free again', async () => {
  await database.dataSource.query(`CREATE TABLE held AS SELECT 1 AS id`);
  const change = (db: Pick<DataSource, 'query'>) => rows(db, 'UPDATE held SET id = id + 1 RETURNING id');
  const lost = transaction(far, async (db) => {
    await change(db);
    proxy.freeze();
    return rows(db, 'SELECT 1');
  });
  await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(await change(database.dataSource)).toEqual([{ id: 2 }]);
});

test('a statement that takes too long is ended by the server, and its connection goes on', async () => {
  const whose = () => rows<{ pid: number }>(far, 'SELECT pg_backend_pid() AS pid');
  const before = await whose();
  await expect(rows(far, 'SELECT pg_sleep(10)')).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  expect(await whose()).toEqual(before);
});

test('migrations wait for another process for as long as it takes', async () => {
  const other = createDataSource({ url: database.url, poolSize: 1 });
  await other.initialize();
  const holding = other.createQueryRunner();
  await holding.query('SELECT pg_advisory_lock(3834122457)');
  const ready = readyDatabase({ url: database.url, statementMs: STATEMENT_MS }, '0.1.0', (connect) => connect());
  const outcome = await Promise.race([ready, holding.query(`SELECT pg_sleep(${(3 * STATEMENT_MS) / 1_000})`)]);
  expect(Array.isArray(outcome)).toBe(true);
  await holding.release();
  await other.destroy();
  await (await ready).destroy();
});
