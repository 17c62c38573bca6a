import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { eventually } from '../../test/eventually.js';
import { egress } from '../../test/nomad-jobs.js';
import { refusal, ScriptedK8s } from '../../test/scripted-k8s.js';
import { K8sClient } from './k8s.client.js';

let k8s: ScriptedK8s;
const clients: K8sClient[] = [];
const opened = (...rest: Parameters<ScriptedK8s['client']>): K8sClient => {
  const client = k8s.client(...rest);
  clients.push(client);
  return client;
};
beforeAll(async () => {
  k8s = await ScriptedK8s.start();
});
beforeEach(() => {
  k8s.reset();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => k8s.stop());

const { signal } = new AbortController();
setMaxListeners(0, signal);
const PATH = '/api/v1/things/x';
const Thing = z.object({ name: z.string() });
const FOUND = { body: { name: 'x' } };
const BUSY = 'Too many requests, please try again later.';
const WEBHOOK = 'Internal error occurred: failed calling webhook "w": failed to call webhook: connection refused';

test.each<[string, Parameters<ScriptedK8s['on']>[1]]>([
  ['too many requests, as text', { status: 429, body: BUSY, headers: { 'retry-after': '0' } }],
  ['a webhook that does not answer', refusal(500, 'InternalError', WEBHOOK)],
  ['a server that is not ready', { status: 503, body: 'apiserver not ready' }],
  ['a request that took too long', refusal(504, 'Timeout', 'Timeout: request did not complete')],
  ['the page of a load balancer', { status: 502, body: '<html>Bad Gateway</html>' }],
  ['the wall before it', { status: 403, body: '<html>Forbidden</html>' }],
  ['what knows no way to it', { status: 404, body: '404 page not found' }],
  ['what does not understand what it is asked', { status: 400, body: '<html>Bad Request</html>' }],
  ['a connection that is cut', 'rst'],
  ['a quota that was being changed', refusal(409, 'Conflict', 'modified', { kind: 'resourcequotas' })],
])('%s passes: it is asked again', async (_title, script) => {
  k8s.on(`GET ${PATH}`, script, FOUND);
  expect(await opened().get(PATH, Thing, { signal })).toEqual({ name: 'x' });
  expect(k8s.seen('GET')).toHaveLength(2);
});

const TOO_LARGE = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
test.each<[string, ReturnType<typeof refusal>, string]>([
  ['no right', refusal(403, 'Forbidden', 'User "u" cannot get resource "things/x" in API group ""'), 'get things/x'],
  ['no such thing', refusal(404, 'NotFound'), 'no such thing'],
  ['a credential that is refused, by whomever', { status: 401, body: '<html>no</html>' }, '401'],
  ['what stands before it, of what is too large', { status: 413, body: '<html>too large</html>' }, '413'],
  ['a version that is gone', refusal(410, 'Expired'), '410'],
  ['a fault in what was sent', refusal(422, 'Invalid'), '422'],
  ['a version of the future', refusal(504, 'Timeout', 'Timeout', TOO_LARGE), '504'],
])('%s does not pass: it is asked once', async (_title, script, words) => {
  k8s.on(`GET ${PATH}`, script);
  await expect(opened().get(PATH, Thing, { signal })).rejects.toThrow(words);
  expect(k8s.seen('GET')).toHaveLength(1);
});

test('an API server is left alone for as long as it asks', async () => {
  k8s.on(`GET ${PATH}`, { status: 429, body: BUSY, headers: { 'retry-after': '1' } }, FOUND);
  const begun = performance.now();
  await opened().get(PATH, Thing, { signal });
  expect(performance.now() - begun).toBeGreaterThan(990);
});

test('what asks for patience is told of each answer and of each that stayed away', async () => {
  const told: string[] = [];
  const listener = { answered: () => void told.push('answered'), failed: () => void told.push('failed') };
  k8s.on(`GET ${PATH}`, 'rst', FOUND, refusal(403, 'Forbidden'));
  await opened().get(PATH, Thing, { signal, listener });
  await opened()
    .get(PATH, Thing, { signal, listener })
    .catch(() => undefined);
  expect(told).toEqual(['failed', 'answered', 'answered']);
});

test('nothing follows a redirect, nor tells the credential', async () => {
  k8s.on(`GET ${PATH}`, { status: 307, headers: { location: 'https://elsewhere.example/x' } });
  const failure: unknown = await opened()
    .ask('GET', PATH, { signal })
    .catch((error: unknown) => error);
  expect(String(failure)).toMatch(/unexpected redirect to https:\/\/elsewhere.example$/);
  expect(k8s.requests).toHaveLength(1);
});

test('an answer that repeats the credential is without it', async () => {
  k8s.on(`GET ${PATH}`, (reply, { token }) => void reply.end(JSON.stringify({ name: `Bearer ${token}` })));
  expect(await opened().get(PATH, Thing, { signal })).toEqual({ name: 'Bearer *****' });
});

test('a credential that is a common word leaves what there is as it is', async () => {
  k8s.on(`GET ${PATH}`, FOUND);
  const client = new K8sClient(k8s.access({ authorization: 'Bearer x' }), egress);
  clients.push(client);
  expect(await client.get(PATH, Thing, { signal })).toEqual({ name: 'x' });
});

test('a list comes in pages, each at its version, and what is left out of one is in the next', async () => {
  k8s.on(`GET ${PATH}`, (reply, { query }) => {
    const from = query.get('continue');
    const metadata = { resourceVersion: '7', ...(!from && { continue: 'more' }) };
    reply.end(JSON.stringify({ items: [{ name: from ?? 'first' }], metadata }));
  });
  const client = opened();
  const first = await client.list(PATH, Thing, { labelSelector: 'app=everdict', limit: 1, signal });
  expect(first).toEqual({ items: [{ name: 'first' }], resourceVersion: '7', next: 'more' });
  expect(await client.list(PATH, Thing, { from: first.next, signal })).toEqual({
    items: [{ name: 'more' }],
    resourceVersion: '7',
  });
  expect(k8s.requests[0]?.query.toString()).toBe('labelSelector=app%3Deverdict&limit=1');
});

test('a page that is longer than is read of a cluster is asked for with half as many, down to one', async () => {
  const parts = Array.from({ length: 500_000 }, () => 0);
  k8s.on(`GET ${PATH}`, (reply, { query }) => {
    const count = Number(query.get('limit'));
    reply.end(JSON.stringify({ items: Array.from({ length: count }, () => ({ name: 'x', parts })), metadata: {} }));
  });
  expect((await opened().list(PATH, Thing, { limit: 4, signal })).items).toEqual([{ name: 'x' }]);
  expect(k8s.requests.map(({ query }) => query.get('limit'))).toEqual(['4', '2', '1']);
});

test('a patch is a merge patch, and a deletion takes along what the object owns', async () => {
  k8s.on(`PATCH ${PATH}`, FOUND).on(`DELETE ${PATH}`, { body: {} }, refusal(404, 'NotFound'), refusal(409, 'Conflict'));
  const client = opened();
  await client.patch(PATH, { spec: { suspend: false } }, Thing, { signal });
  expect(k8s.requests.map(({ type }) => type)).toEqual(['application/merge-patch+json']);
  expect(await client.delete(PATH, { signal, uid: 'u1' })).toBe(true);
  expect(await client.delete(PATH, { signal })).toBe(false);
  expect(await client.delete(PATH, { signal, uid: 'u1' })).toBe(false);
  expect(JSON.parse(k8s.seen('DELETE')[0]?.body ?? '')).toEqual({
    ...{ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background', preconditions: { uid: 'u1' } },
  });
});

test('many calls share a few connections, and log streams have their own', async () => {
  k8s.on(`GET ${PATH}`, FOUND).on('GET /log', (reply) => void reply.write('hello'));
  const client = opened();
  await Promise.all(Array.from({ length: 60 }, () => client.get(PATH, Thing, { signal })));
  expect(k8s.peak).toBeLessThanOrEqual(8);
  const controller = new AbortController();
  let heard = 0;
  const take = (): boolean => {
    heard += 1;
    return true;
  };
  const streams = Array.from({ length: 12 }, () => client.stream('/log', {}, { signal: controller.signal, take }));
  await eventually('each stream is heard', async () => heard === 12);
  await client.get(PATH, Thing, { signal });
  controller.abort();
  const ended = await Promise.allSettled(streams);
  expect(ended.every(({ status }) => status === 'rejected')).toBe(true);
});

describe('K23 a credential that a program of the host hands out', () => {
  const tokens = (valid: () => string) =>
    k8s.on(`GET ${PATH}`, (reply, { token }) => {
      const isKnown = token === valid();
      reply.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(isKnown ? FOUND.body : refusal(401, 'Unauthorized').body));
    });

  test('is taken anew where it is refused, once for all that ask, and what was asked is repeated', async () => {
    let [valid, renewals] = ['canary-token', 0];
    tokens(() => valid);
    const client = opened(async () => {
      renewals += 1;
      return k8s.access({ authorization: `Bearer ${valid}` });
    });
    await client.get(PATH, Thing, { signal });
    valid = 'second-token';
    const asked = Array.from({ length: 20 }, () => client.get(PATH, Thing, { signal }));
    expect(await Promise.all(asked)).toHaveLength(20);
    expect(renewals).toBe(1);
  });

  test('is told to be refused where the new one is refused, too, or none is given', async () => {
    tokens(() => 'none');
    let renewals = 0;
    const client = opened(async () => {
      renewals += 1;
      return k8s.access({ authorization: 'Bearer another' });
    });
    const failed = opened(() => Promise.reject(new Error('no token')));
    for (const each of [client, client, failed]) {
      await expect(each.get(PATH, Thing, { signal })).rejects.toMatchObject({ reason: 'auth', status: 401 });
    }
    expect(renewals).toBe(1);
  });

  test('is not taken anew where there is no such program', async () => {
    tokens(() => 'none');
    await expect(opened().get(PATH, Thing, { signal })).rejects.toMatchObject({ reason: 'auth' });
    expect(k8s.requests).toHaveLength(1);
  });
});
