import { JsonLog } from './log.js';
import { withRequestId } from './request-context.js';

function logged(fields: object, mask?: (text: string) => string): string {
  let text = '';
  const log = new JsonLog((line) => {
    text += line;
  });
  if (mask) log.maskWith(mask);
  log.error('it failed', fields);
  expect(JSON.parse(text)).toMatchObject({ level: 'error', message: 'it failed' });
  return text;
}

const SECRET = 's3cr3t-canary';

test.each<[string, object]>([
  ...[
    'authorization',
    'Proxy-Authorization',
    'X-Nomad-Token',
    'cookie',
    'set-cookie',
    'password',
    'passwd',
    'token',
    'checkToken',
    'secret',
    'client_secret',
    'key',
    'apiKey',
    'TEMPORAL_API_KEY',
    'EVERDICT_SECRETS_KEY',
    'client-key',
    'value',
    'nonce',
    'kubeconfig',
  ].map((name): [string, object] => [`a field ${name}`, { [name]: SECRET }]),
  ['a list under such a name', { tokens: [SECRET] }],
  ['an object under such a name', { secret: { inner: SECRET } }],
  ['headers deep inside', { request: { options: [{ headers: { Authorization: `Bearer ${SECRET}` } }] } }],
  ['a map', { headers: new Map([['x-nomad-token', SECRET]]) }],
  ['the login of a URL', { detail: `cannot reach https://user:${SECRET}@host.example/path` }],
  ['a login with an @', { detail: `postgres://user:p@${SECRET}@host/db` }],
  ['the query of a URL', { url: `/callback?a=1&access_token=${SECRET}&b=2` }],
  ['the first of a query', { url: `https://host/?sig=${SECRET}#x` }],
  ['a bearer token in a text', { detail: `sent "authorization: Bearer ${SECRET}" to it` }],
  ['a header in a text', { detail: `x-nomad-token: ${SECRET}\r\nhost: x` }],
  ['a message of an error', { error: new Error(`GET https://u:${SECRET}@host failed`) }],
  ['a cause of a cause', { error: new Error('a', { cause: new Error('b', { cause: { token: SECRET } }) }) }],
  ['one of several errors', { error: new AggregateError([new Error(`password=1 ?key=${SECRET}`)]) }],
])('hides %s', (_title, fields) => {
  expect(logged(fields)).not.toContain(SECRET);
  expect(logged(fields)).toContain('[redacted]');
});

test('keeps what helps to find a fault', () => {
  const fields = {
    keyId: 'key_1',
    runId: 'run_1',
    secretName: 'nomad',
    hasToken: true,
    path: '/runtimes/monkey/versions/1?limit=5&cursor=abc',
    detail: 'the token bucket of a@b is empty',
    count: 10n,
    at: new Date(0),
    body: Buffer.from('abc'),
  };
  expect(JSON.parse(logged(fields))).toMatchObject({
    ...fields,
    count: 10,
    at: '1970-01-01T00:00:00.000Z',
    body: '[3 bytes]',
  });
});

test('passes every text through the mask of opened secrets, names and stacks too', () => {
  const mask = (text: string) => text.replaceAll(SECRET, '***');
  const error = new Error(`denied for ${SECRET}`, { cause: { [SECRET]: [SECRET] } });
  expect(logged({ error, note: `"${SECRET}"` }, mask)).not.toContain(SECRET);
});

test('writes what refers to itself, and what is too deep', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  let deep: object = {};
  for (let i = 0; i < 1_000; i++) deep = { deep };
  expect(logged({ loop, deep }).length).toBeLessThan(1_000);
});

test('takes time that is linear in the text', () => {
  const begun = performance.now();
  for (const part of ['x-', 'a.', 'a://', '&a=', 'basic ', 'cookie: ']) logged({ text: part.repeat(20_000) });
  expect(performance.now() - begun).toBeLessThan(3_000);
});

test('a line of a request has its id, also after what it waited for', async () => {
  const lines: string[] = [];
  const log = new JsonLog((line) => lines.push(line));
  await withRequestId('req-1', async () => {
    await new Promise(setImmediate);
    log.info('inside');
  });
  log.info('outside');
  expect(lines.map((line) => JSON.parse(line).requestId)).toEqual(['req-1', undefined]);
});
