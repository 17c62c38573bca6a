import { request } from 'node:http';
import net from 'node:net';
import fc from 'fast-check';
import { Problem } from '../../../api/common/problem.js';
import { refuseOpenBind } from '../../../api/identity/access-mode.js';
import { type Api, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

/** `fetch` sets `Host` itself, so this does not use it. */
function get(path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}${path}`, { headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('who is answered', () => {
  const port = () => new URL(api.url).port;

  test.each([
    ['localhost', () => `localhost:${port()}`, 200],
    ['localhost through a tunnel', () => 'localhost:9000', 200],
    ['127.0.0.1', () => `127.0.0.1:${port()}`, 200],
    ['another loopback address', () => '127.1.2.3', 200],
    ['IPv6 loopback', () => `[::1]:${port()}`, 200],
    ['a name that was rebound', () => `attacker.example:${port()}`, 403],
    ['a name that begins like ours', () => 'localhost.attacker.example', 403],
    ['an address of the network', () => '192.168.1.5', 403],
    ['a user part', () => 'localhost@attacker.example', 403],
    ['an address that only looks like ours', () => '127.0.0.1.attacker.example', 403],
  ])('a Host of %s', async (_title, host, status) => {
    expect(await get('/healthz', { host: host() })).toBe(status);
    expect(await get('/no/such/route', { host: host() })).toBe(status === 200 ? 404 : status);
  });

  test.each([
    ['its own page', () => api.url, 200],
    ['another port', () => 'http://127.0.0.1:3000', 403],
    ['another site', () => 'https://attacker.example', 403],
    ['a page without origin', () => 'null', 403],
    ['an empty origin', () => '', 403],
  ])('an Origin of %s', async (_title, origin, status) => {
    expect(await get('/healthz', { host: new URL(api.url).host, origin: origin() })).toBe(status);
  });

  test.each(['0.0.0.0', '::', '192.168.1.5', 'example.com'])(
    'binding to %s is refused without authentication',
    (host) => {
      expect(() => refuseOpenBind(host, { isOn: false })).toThrow(`EVERDICT_HOST is ${host}`);
      expect(() => refuseOpenBind(host, { isOn: true })).not.toThrow();
    },
  );

  test.each(['127.0.0.1', '::1', 'localhost'])('binding to %s is fine', (host) => {
    expect(() => refuseOpenBind(host, { isOn: false })).not.toThrow();
  });
});

describe('an error', () => {
  const json = { 'content-type': 'application/json' };

  test.each([
    ['an unknown route', 'GET', '/nope?x=1', undefined, {}, 404, 'NOT_FOUND', 'GET /nope;'],
    ['a method the route does not have', 'DELETE', '/runtimes', undefined, {}, 404, 'NOT_FOUND', 'DELETE /runtimes'],
    ['a URL that cannot be decoded', 'GET', '/%E0%A4%A', undefined, {}, 400, 'BAD_REQUEST', ''],
    ['a name longer than any', 'GET', `/scorecards/${'x'.repeat(2_000)}`, undefined, {}, 414, 'BAD_REQUEST', ''],
    ['malformed JSON', 'POST', '/runtimes', '{"id":\n "a",}', json, 400, 'BAD_REQUEST', 'line 2, column 6'],
    ['no body', 'POST', '/runtimes', undefined, {}, 400, 'BAD_REQUEST', 'body is required'],
    ['an empty body', 'POST', '/runtimes', '', json, 400, 'BAD_REQUEST', 'body is required'],
    ['a body that is no object', 'POST', '/runtimes', '[]', json, 400, 'BAD_REQUEST', ''],
    [
      'a form',
      'POST',
      '/runtimes',
      'a=1',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'x-www-form-urlencoded',
    ],
    [
      'lines where JSON is wanted',
      'POST',
      '/runtimes',
      '{}',
      { 'content-type': 'text/plain' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'application/json',
    ],
    [
      'lines where anything is answered',
      'POST',
      '/runtimes/validate',
      '{}',
      { 'content-type': 'text/plain' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'application/json',
    ],
    [
      'a huge body',
      'POST',
      '/datasets',
      'a'.repeat(11_000_000),
      json,
      413,
      'BODY_TOO_LARGE',
      '11000000 bytes; the limit is 10485760',
    ],
  ])('of %s is a problem document', async (_title, method, path, body, headers, status, code, part) => {
    const reply = await api.send(method, path, body, headers);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(reply.headers.get('content-type')).toContain('application/problem+json');
    expect(Problem.parse(reply.body).status).toBe(status);
    expect(reply.body.detail).toContain(part);
  });

  test('of our own tells its request id and nothing of its cause; the log has both', async () => {
    const broken = await startApi();
    await broken.database.dataSource.query('DROP TABLE runtimes CASCADE');
    const reply = await broken.send('GET', '/runtimes', undefined, { 'x-request-id': 'trace-7' });
    await broken.close();
    expect([reply.status, reply.body.code, reply.body.requestId]).toEqual([500, 'INTERNAL', 'trace-7']);
    expect(JSON.stringify(reply.body)).not.toMatch(/runtimes" does not exist|at .*\.ts/);
    const logged = broken.logLines.map((text) => JSON.parse(text)).filter(({ requestId }) => requestId === 'trace-7');
    expect(logged.map(({ level }) => level)).toEqual(['error', 'info']);
    expect(logged[0].error.message).toContain('does not exist');
  });

  test('of what is not HTTP at all is a problem document, too', async () => {
    const { hostname, port } = new URL(api.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(Number(port), hostname, () => socket.write('NOT HTTP\r\n\r\n'));
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(Problem.parse(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).code).toBe('BAD_REQUEST');
  });
});

describe('every answer', () => {
  test('carries a request id: the caller’s own if it is safe to print, else a new one', async () => {
    const own = await api.send('GET', '/healthz', undefined, { 'x-request-id': 'ci-1.2_3' });
    const unsafe = await api.send('GET', '/healthz', undefined, { 'x-request-id': 'a b' });
    const missing = await api.send('GET', '/%E0%A4%A');
    expect(own.headers.get('x-request-id')).toBe('ci-1.2_3');
    expect(unsafe.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(missing.headers.get('x-request-id')).toBe(missing.body.requestId);
  });

  test('is logged as one JSON line with its id, method, path and status', async () => {
    await api.send('GET', '/runtimes?limit=1', undefined, { 'x-request-id': 'logged-1' });
    const lines = api.logLines.map((text) => JSON.parse(text)).filter(({ requestId }) => requestId === 'logged-1');
    expect(lines).toMatchObject([{ message: 'request', method: 'GET', path: '/runtimes', status: 200 }]);
  });
});

describe('junk', () => {
  const routes = ['/datasets', '/harnesses', '/runtimes', '/scorecards', '/runs'];
  const keys = [
    'id',
    'version',
    'kind',
    'cases',
    'task',
    'command',
    'dataset',
    'harness',
    'runtime',
    'params',
    'metadata',
    'case',
    'env',
  ];
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('local', 'command', '__proto__', '1.0.0', '\0', '\ud800', -1, ''),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...keys, '__proto__', 'constructor', 'prototype'), tie('any'), {
        maxKeys: 8,
        noNullPrototype: false,
      }),
    ),
  })).any;

  test('is never a 5xx and never reaches Object.prototype', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), value, async (route, body) => {
        const { status } = await api.send('POST', route, JSON.stringify(body) ?? 'null');
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 500 },
    );
    const polluting = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    for (const route of routes) expect((await api.send('POST', route, polluting)).status).toBe(400);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('that is not JSON is a 4xx', async () => {
    const body = fc.oneof(fc.string(), fc.uint8Array({ minLength: 1 }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), body, async (route, text) => {
        const { status } = await api.send('POST', route, text);
        expect([400, 413, 415]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });

  test('in ids and queries is a 4xx', async () => {
    const paths = [
      '/datasets/ID/versions/ID',
      '/harnesses/ID/versions/1',
      '/scorecards/ID',
      '/scorecards/ID/cases',
      '/runs/ID/logs',
      '/runs?ID',
      '/scorecards?cursor=ID',
      '/runtimes?limit=ID',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.string({ unit: 'grapheme', minLength: 1 }), async (path, junk) => {
        const { status } = await api.send('GET', path.replaceAll('ID', encodeURIComponent(junk)));
        expect(status === 200 ? path.startsWith('/runtimes?limit') : status >= 400 && status < 500).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
