import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from '../../eventually.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { TcpProxy } from '../../tcp-proxy.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ isEmpty: true });
}, 60_000);
afterAll(() => database.drop());

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface ApiProcess {
  child: ChildProcess;
  /** The next log line with this message. */
  line(message: string): Promise<Record<string, string>>;
  exit: Promise<number | null>;
}

/** The built API as a process of its own. */
function startProcess(env: Record<string, string> = {}): ApiProcess {
  const child = spawn(process.execPath, ['dist/api/main.js'], {
    env: { PATH: process.env.PATH, DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const seen: Record<string, string>[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (text) => seen.push(JSON.parse(text)));
  const line = async (message: string): Promise<Record<string, string>> => {
    for (;;) {
      const found = seen.find((entry) => entry.message === message);
      if (found) return found;
      await Promise.race([once(lines, 'line'), once(lines, 'close')]);
      if (child.exitCode !== null && !seen.some((entry) => entry.message === message)) {
        throw new Error(`ended without "${message}": ${JSON.stringify(seen)}`);
      }
    }
  };
  return { child, line, exit: once(child, 'close').then(([code]) => code) };
}

const dataset = (id: string) =>
  ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, version: '1', cases: [{ id: 'a', task: 'x' }] }),
  }) as const;

/** The test database's address with another user, password or name. */
const databaseWith = (change: { username?: string; password?: string; pathname?: string; port?: string }): string =>
  Object.assign(new URL(database.url), change).href;

describe('the API process', () => {
  test('migrates an empty database, says where it listens, and ends on SIGTERM once it has answered', async () => {
    const { child, line, exit } = startProcess();
    const { url } = await line('api ready');
    expect((await fetch(`${url}/datasets`, dataset('first'))).status).toBe(201);

    const lock = database.dataSource.createQueryRunner();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE datasets IN EXCLUSIVE MODE');
    const reply = fetch(`${url}/datasets`, dataset('second'));
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await database.dataSource.query(waiting))[0].count === 0);
    child.kill('SIGTERM');
    await line('api stopping');
    await lock.query('COMMIT');
    await lock.release();

    expect((await reply).status).toBe(201);
    expect(await exit).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  }, 30_000);

  test('killed in the middle of an upload leaves nothing of it', async () => {
    const { child, line, exit } = startProcess();
    const { url } = await line('api ready');
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 500; i += 1) controller.enqueue(Buffer.from(`{"id":"case-${i}","task":"x"}\n`));
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body, duplex: 'half' };
    const reply = fetch(`${url}/datasets?id=killed&version=1`, init as RequestInit).catch(() => 'no answer');
    const storing = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction'`;
    const isStoring = async () => (await database.dataSource.query(storing))[0].count > 0;
    await eventually('cases are being stored', isStoring);
    child.kill('SIGKILL');
    await exit;
    expect(await reply).toBe('no answer');
    await eventually('the database noticed', async () => !(await isStoring()));
    expect(await database.dataSource.query(`SELECT FROM dataset_cases WHERE case_id LIKE 'case-%'`)).toEqual([]);
  }, 30_000);

  test.each([
    ['password', { password: 'sesame' }, 'does not accept the user with this password'],
    ['role', { username: 'nobody', password: 'sesame' }, 'does not accept the user with this password'],
    ['database', { pathname: '/atlantis' }, 'has no such database'],
  ])(
    'refuses a wrong %s of the database at once, names the setting, and tells no password',
    async (_title, change, part) => {
      const { line, exit } = startProcess({ DATABASE_URL: databaseWith(change) });
      const failed = JSON.stringify(await line('api failed'));
      expect(failed).toContain(part);
      expect(failed).toContain('in DATABASE_URL and start again');
      expect(failed).not.toContain('sesame');
      expect(failed).not.toContain(new URL(database.url).password);
      expect(await exit).toBe(1);
    },
    30_000,
  );

  test('waits for a database that is not there yet', async () => {
    const { hostname, port } = new URL(database.url);
    const proxy = await TcpProxy.before({ host: hostname, port: Number(port) }, 'drop');
    const { line } = startProcess({ DATABASE_URL: databaseWith({ port: String(proxy.port) }) });
    await line('waiting for Postgres');
    proxy.set('pass');
    await line('api ready');
    await proxy.close();
  }, 30_000);

  test.each([
    ['an address that others reach', { EVERDICT_HOST: '0.0.0.0' }, 'EVERDICT_HOST is 0.0.0.0'],
    ['no database', { DATABASE_URL: '' }, 'DATABASE_URL'],
    ['a port that is none', { PORT: '70000' }, 'PORT'],
  ])(
    'refuses %s at boot and names it',
    async (_title, env, part) => {
      const { line, exit } = startProcess(env);
      const { error } = await line('api failed');
      expect(JSON.stringify(error)).toContain(part);
      expect(await exit).toBe(1);
    },
    30_000,
  );
});
