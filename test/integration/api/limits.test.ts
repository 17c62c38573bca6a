import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAdapter } from '../../../api/common/adapter.js';
import { Problem } from '../../../api/common/problem.js';
import { HttpMetrics } from '../../../api/metrics/http-metrics.js';
import { JsonLog } from '../../../config/log.js';
import { createRegistry } from '../../../config/registry.js';
import { createDataSource } from '../../../store/data-source.js';
import { rows } from '../../../store/sql.js';
import { eventually } from '../../eventually.js';
import { type Api, registerWorld, rowCounts, startApi } from './server.js';

/** What a connection answers until it ends. `parts` are sent with a pause between them. */
function exchange(url: string, parts: readonly string[], pauseMs = 0): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(Number(port), hostname, () => void send().catch(reject));
    const send = async (): Promise<void> => {
      for (const part of parts) {
        if (!socket.writable) return;
        socket.write(part);
        await sleep(pauseMs);
      }
    };
    socket.on('data', (bytes) => {
      text += bytes;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const SAFE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': expect.stringContaining("default-src 'none'"),
  'cache-control': 'no-store',
};

describe('an API with a limit of 5 requests a second', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ env: { EVERDICT_REQUESTS_PER_SEC: '5' } });
  }, 60_000);
  afterAll(() => api.close());

  test('answers what is too much with 429, and says when to come back', async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => api.send('POST', '/runs', '{}')));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    const { headers, body } = refused[0] ?? { body: {} };
    expect([body.code, headers?.get('retry-after')]).toEqual(['TOO_MANY_REQUESTS', '1']);
    expect(headers?.get('ratelimit-limit')).toBe('10');
    expect(headers?.get('ratelimit-remaining')).toBe('0');
    expect(Number(headers?.get('ratelimit-reset'))).toBeGreaterThan(0);
    const [{ count }] = await api.database.dataSource.query(
      'SELECT count(*)::int AS count FROM audit_events WHERE status = 429',
    );
    expect(count).toBe(0);
  });

  test('keeps admins a rate of their own, whoever asks too much', async () => {
    const paths = [...Array.from({ length: 30 }, () => '/runtimes'), '/keys', '/keys'];
    const statuses = (await Promise.all(paths.map((path) => api.send('GET', path)))).map(({ status }) => status);
    expect(statuses.slice(0, 30)).toContain(429);
    expect(statuses.slice(30)).toEqual([200, 200]);
  });

  test('goes on answering whoever needs no permission', async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => api.send('GET', '/healthz')));
    expect(replies.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    expect((await api.send('GET', '/nope')).status).toBe(404);
  });

  test('sends headers with every answer that keep browsers from making more of it', async () => {
    const bare = await exchange(api.url, ['NOT HTTP\r\n\r\n']);
    const answers = [
      await api.send('GET', '/healthz'),
      await api.send('GET', '/nope'),
      await api.send('GET', '/%E0%A4%A'),
      await api.send('POST', '/runs', '{'),
    ];
    for (const { headers } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({ ...SAFE, 'x-request-id': expect.any(String) });
      expect(headers.has('x-powered-by')).toBe(false);
    }
    for (const line of ['x-content-type-options: nosniff', 'cache-control: no-store', 'x-request-id: ']) {
      expect(bare).toContain(line);
    }
    const { requestId } = Problem.parse(JSON.parse(bare.split('\r\n\r\n')[1] ?? ''));
    expect(bare).toContain(`x-request-id: ${requestId}`);
    expect(api.logLines.some((line) => line.includes(requestId))).toBe(true);
  });

  test('refuses a head that is too large', async () => {
    const answer = await exchange(api.url, [
      `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('more than 16384 bytes');
  });
});

test('what would be above the cap on runs without outcome is refused as a whole, until there is room', async () => {
  const api = await startApi({ env: { EVERDICT_MAX_WAITING_PER_WORKSPACE: '4' } });
  await registerWorld(api);
  const wanted = { dataset: 'tasks', harness: 'echo', runtime: 'here' };
  const first = await api.send('POST', '/scorecards', wanted);
  const before = await rowCounts(api);
  const refused = await api.send('POST', '/scorecards', wanted, { 'idempotency-key': 'again' });
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'QUEUE_FULL', '60']);
  expect(refused.body.detail).toMatch(/^workspace default may have 4 .* it has 3, and 3 more were asked for/);
  expect(await rowCounts(api)).toEqual(before);
  const run = { case: { id: 'own', task: 'x' }, harness: 'echo', runtime: 'here' };
  const statuses = [await api.send('POST', '/runs', run), await api.send('POST', '/runs', run)];
  expect(statuses.map(({ status }) => status)).toEqual([202, 429]);

  await api.send('POST', `/scorecards/${first.body.id}/cancel`);
  const again = async () =>
    (await api.send('POST', '/scorecards', wanted, { 'idempotency-key': 'again' })).status === 202;
  // What was counted is relied on for a moment.
  await eventually('the same submit is accepted', again);
  await api.close();
});

test('what runs for a request logs its id, also after its body was read', async () => {
  const api = await startApi();
  await api.database.dataSource.query('ALTER TABLE harnesses RENAME TO gone');
  const harness = { kind: 'command', id: 'a', version: '1', command: 'true' };
  const { status } = await api.send('POST', '/harnesses', harness, { 'x-request-id': 'traced' });
  await api.close();
  const lines = api.logLines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === 'traced');
  expect([status, lines.map(({ message }) => message)]).toEqual([500, ['request failed', 'request']]);
});

describe('a server that waits for 0.3 s', () => {
  let server: FastifyInstance;
  let url: string;
  const done: string[] = [];
  beforeAll(async () => {
    const log = new JsonLog(() => {});
    const times = { headMs: 300, lookMs: 50, bodyMs: 300, answerMs: 300 };
    const metrics = new HttpMetrics(createRegistry());
    const access = { mode: { isOn: false }, admit: async () => {} };
    server = createAdapter({ log, metrics, times, access, trustedProxies: [] }).getInstance<FastifyInstance>();
    const config = { access: { permission: 'public' } } as const;
    server.post('/body', { config }, async () => 'whole');
    server.get('/slow', { config }, (_request, reply) => {
      reply.hijack();
      reply.raw.write('HTTP-like stream');
      setTimeout(() => reply.raw.end('its end'), 1_000);
    });
    server.addHook('onError', async (_request, _reply, error) => void done.push(error.message));
    url = await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());
  const post =
    'POST /body HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n';

  test('ends a connection whose head does not come', async () => {
    const drips = Array.from({ length: 40 }, (_, n) => `x-${n}: 1\r\n`);
    const answer = await exchange(url, ['GET / HTTP/1.1\r\nhost: localhost\r\n', ...drips], 50);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('ends a connection that says nothing at all', async () => {
    expect(await exchange(url, [])).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('answers a body that drips, and ends its connection', async () => {
    const answer = await exchange(url, [post, ...Array.from({ length: 40 }, () => ' ')], 50);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(done.at(-1)).toContain('did not come within 0.3 s');
  });

  test('cuts no answer that takes longer', async () => {
    const answer = await exchange(url, ['GET /slow HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n']);
    expect(answer).toContain('its end');
  });
});

test('a statement that takes longer than it may is a time-out of the database', async () => {
  const api = await startApi();
  const db = await createDataSource({ url: api.database.url, statementMs: 50 }).initialize();
  await expect(rows(db, 'SELECT pg_sleep(5)')).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  await db.destroy();
  await api.close();
});
