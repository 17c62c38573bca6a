import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { parseAllowList } from '../../policy/addresses.js';
import { Egress, REFUSED_TEXT } from './guard.js';

const OPTIONS = { connections: 2, connectTimeoutMs: 1_000, silenceMs: 1_000 };

let server: Server;
let port: number;
let connections = 0;
let requests: IncomingMessage[] = [];

beforeAll(async () => {
  server = createServer((incoming, reply) => {
    requests.push(incoming);
    reply.setHeader('location', `http://127.0.0.1:${port}/elsewhere`);
    reply.writeHead(incoming.url === '/redirect' ? 302 : 200).end('ok');
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

beforeEach(() => {
  connections = 0;
  requests = [];
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Answers each look-up of a name with the next of its lists; the last one stays. */
function resolving(names: Record<string, string[][]>) {
  const asked: string[] = [];
  const resolve = async (name: string): Promise<LookupAddress[]> => {
    asked.push(name);
    const left = names[name] ?? [];
    const addresses = (left.length > 1 ? left.shift() : left[0]) ?? [];
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { resolve, asked };
}

async function get(egress: Egress, url: string): Promise<number> {
  const dispatcher = egress.dispatcher(OPTIONS);
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode;
  } finally {
    await dispatcher.destroy();
  }
}

const { rules: LOOPBACK } = parseAllowList('127.0.0.0/8,::1');

test.each([
  'http://127.0.0.1:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://017700000001:PORT/',
  'http://127.1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://①②⑦.0.0.1:PORT/',
  'http://0.0.0.0:PORT/',
  'http://0:PORT/',
  'http://[::]:PORT/',
  'http://[::1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://localhost:PORT/',
  'http://localhost.:PORT/',
  'http://LOCALHOST:PORT/',
  'http://x.localhost:PORT/',
  'https://localhost:PORT/',
  'http://169.254.169.254/latest',
  'http://metadata.google.internal/',
  'http://10.0.0.5:PORT/',
  'http://private.test:PORT/',
  'http://mixed.test:PORT/',
  'http://mapped.test:PORT/',
])('refuses %s and sends nothing', async (form) => {
  const { resolve } = resolving({
    'private.test': [['127.0.0.1']],
    'mixed.test': [['93.184.216.34', '127.0.0.1']],
    'mapped.test': [['::ffff:127.0.0.1']],
  });
  const url = form.replace('PORT', String(port));

  await expect(get(new Egress([], resolve), url)).rejects.toMatchObject({
    code: 'ADDRESS_REFUSED',
    message: REFUSED_TEXT,
  });
  expect(connections).toBe(0);
});

test('dials the address that was checked, however the name resolves later, and keeps the name in the request', async () => {
  const { resolve, asked } = resolving({ 'nomad.test': [['127.0.0.1'], ['10.0.0.5']] });
  const dispatcher = new Egress(LOOPBACK, resolve).dispatcher({ ...OPTIONS, connections: 1 });
  for (let call = 0; call < 2; call += 1) {
    const { body } = await request(`http://nomad.test:${port}/`, { dispatcher });
    await body.dump();
  }

  expect(asked).toEqual(['nomad.test']);
  expect(connections).toBe(1);
  expect(requests.map(({ headers }) => headers.host)).toEqual([`nomad.test:${port}`, `nomad.test:${port}`]);

  server.closeAllConnections();
  const again = async () => request(`http://nomad.test:${port}/`, { dispatcher });
  await expect(again().catch(again)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(connections).toBe(1);
  await dispatcher.destroy();
});

test('does not follow a redirect', async () => {
  expect(await get(new Egress(LOOPBACK), `http://127.0.0.1:${port}/redirect`)).toBe(302);
  expect(requests.map(({ url }) => url)).toEqual(['/redirect']);
});

test('opens one port of an address, and neither the next port nor another address', async () => {
  const { rules } = parseAllowList(`127.0.0.1/32:${port}`);
  expect(await get(new Egress(rules), `http://127.0.0.1:${port}/`)).toBe(200);
  connections = 0;

  const { rules: other } = parseAllowList(`127.0.0.1/32:${port + 1},127.0.0.2/32`);
  await expect(get(new Egress(other), `http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(connections).toBe(0);
});

test('reads no proxy from the environment', async () => {
  process.env.http_proxy = 'http://127.0.0.1:1';
  try {
    expect(await get(new Egress(LOOPBACK), `http://127.0.0.1:${port}/`)).toBe(200);
  } finally {
    Reflect.deleteProperty(process.env, 'http_proxy');
  }
});

test('looks up for sockets only what is admitted', async () => {
  const { resolve } = resolving({ 'nomad.test': [['127.0.0.1', '::1']], 'private.test': [['10.0.0.5']] });
  const lookup = new Egress(LOOPBACK, resolve).lookup(443);
  const asked = (name: string, all: boolean) =>
    new Promise((done) => lookup(name, { all }, (error, found) => done(error ? error.message : found)));

  expect(await asked('nomad.test', false)).toBe('127.0.0.1');
  expect(await asked('nomad.test', true)).toMatchObject([{ address: '127.0.0.1' }, { address: '::1' }]);
  expect(await asked('private.test', true)).toBe(REFUSED_TEXT);
});
