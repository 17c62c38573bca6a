import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseAllowList } from '../policy/addresses.js';
import { Egress, REFUSED_TEXT } from './egress/guard.js';
import { SessionEndpoints } from './session-endpoints.js';

const LOOPBACK = parseAllowList('127.0.0.0/8').rules;

let asked: string[] = [];
const answers: Record<string, RequestListener> = {
  '/pool?of=1': (_, reply) => reply.end('{"total": 2}'),
  '/broken': (_, reply) => reply.end('{"total": '),
  '/down': (_, reply) => reply.writeHead(503).end('out of order'),
  '/away': (_, reply) => reply.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  '/long': (_, reply) => reply.end(JSON.stringify('x'.repeat(65_536))),
  '/cut': (request) => request.socket.destroy(),
  '/silent': () => undefined,
};
const server = createServer((request, reply) => {
  asked.push(request.url ?? '');
  answers[request.url ?? '']?.(request, reply);
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const read = async (url: string, allow = LOOPBACK) => (await new SessionEndpoints(new Egress(allow)).read(url)).reply;

test.each([
  ['JSON is read, whatever its URL asks for', '/pool?of=1', { body: { total: 2 } }],
  ['what is no JSON', '/broken', { failure: 'it answers something that is no JSON' }],
  ['an error', '/down', { failure: 'it answers 503' }],
  ['a redirect, which is not followed', '/away', { failure: 'unexpected redirect to http://10.0.0.1' }],
  ['an answer above 64 KB', '/long', { failure: 'its answer is longer than is read' }],
  ['a connection that is cut', '/cut', { failure: expect.stringContaining('ended') }],
])('%s', async (_title, path, want) => {
  expect(await read(origin + path)).toEqual(want);
});

test('an endpoint that does not answer is given up after five seconds, and asked once meanwhile', async () => {
  const endpoints = new SessionEndpoints(new Egress(LOOPBACK));
  const url = `${origin}/silent`;
  const [first, second] = await Promise.all([endpoints.read(url), endpoints.read(url)]);
  expect(first).toEqual({ at: expect.any(Number), reply: { failure: 'it did not answer in time' } });
  expect(await endpoints.read(url)).toBe(second);
  expect(asked).toEqual(['/silent']);
});

test('a refused address is not dialled', async () => {
  expect(await read(`${origin}/pool?of=1`, [])).toEqual({ failure: REFUSED_TEXT });
  expect(asked).toEqual([]);
});
