import { createServer, request } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { KeyStore } from '../../../store/key.store.js';
import { eventually } from '../../eventually.js';
import { type Api, type Reply, startApi } from './server.js';

const FIRST = 'bootstrap-key-0123456789-0123456789';
const OPERATOR = 'operator-key-0123456789-0123456789';

/** An identity provider over HTTP that signs whatever it is asked to. */
async function anIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const stranger = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' };
  const state = { isDown: false, asked: 0, url: '' };
  const server = createServer((request, response) => {
    state.asked += 1;
    const body = request.url === '/keys' ? { keys: [jwk] } : { issuer: state.url, jwks_uri: `${state.url}/keys` };
    response.writeHead(state.isDown ? 500 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  state.url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const token = (claims: JWTPayload, { expires = '5m', isForged = false } = {}) =>
    new SignJWT({ iss: state.url, aud: 'everdict', sub: 'ada', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuedAt()
      .setExpirationTime(claims.exp ?? expires)
      .sign(isForged ? stranger.privateKey : privateKey);
  return { state, token, close: () => server.close() };
}

let people: Awaited<ReturnType<typeof anIssuer>>;
let github: Awaited<ReturnType<typeof anIssuer>>;
let api: Api;
beforeAll(async () => {
  [people, github] = await Promise.all([anIssuer(), anIssuer()]);
  api = await startApi({
    env: {
      EVERDICT_BOOTSTRAP_KEY: FIRST,
      EVERDICT_OPERATOR_KEY: OPERATOR,
      EVERDICT_OIDC_ISSUER: people.state.url,
      EVERDICT_OIDC_AUDIENCE: 'everdict',
      EVERDICT_GITHUB_ISSUER: github.state.url,
      EVERDICT_GITHUB_AUDIENCE: 'everdict',
      EVERDICT_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
}, 60_000);
afterAll(async () => {
  await api.close();
  people.close();
  github.close();
});

let sources = 0;
/** Everybody comes from an address of their own, unless it is said. */
const as = (key: string, method: string, path: string, body?: unknown, headers = {}): Promise<Reply> => {
  sources += 1;
  const from = { 'x-forwarded-for': `198.51.${sources >> 8}.${sources & 255}` };
  return api.send(method, path, body, { ...from, authorization: `Bearer ${key}`, ...headers });
};
const make = async (path: string, body: unknown, key = FIRST): Promise<Reply['body']> => {
  const reply = await as(key, 'POST', path, body);
  expect([path, reply.status]).toEqual([path, 201]);
  return reply.body;
};

describe('a key', () => {
  test('is shown once, stored as a hash, and shows when it was used and that it is revoked', async () => {
    const { id, value, ...made } = await make('/keys', { name: 'nightly', role: 'member', scope: 'write' });
    expect(value).toMatch(/^ak_[\w-]{43}$/);
    expect(made).toMatchObject({ role: 'member', scope: 'write', lastUsedAt: null, revokedAt: null });
    const stored = await api.database.dataSource.query('SELECT * FROM api_keys');
    expect(JSON.stringify([stored, api.logLines])).not.toContain(value);

    const me = await as(value, 'GET', '/whoami');
    expect(me.body).toMatchObject({ subject: `key:${id}`, workspace: 'default', role: 'member', scope: 'write' });
    const listed = async () => {
      const { body } = await as(FIRST, 'GET', '/keys');
      return body.items.find((key: { id: string }) => key.id === id);
    };
    await eventually('its use is noted', async () => (await listed()).lastUsedAt !== null);
    expect((await as(FIRST, 'DELETE', `/keys/${id}`)).body).toMatchObject({ id, stillValid: [] });
    expect(await listed()).not.toHaveProperty('value');
    const refused = await as(value, 'GET', '/whoami');
    expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm="everdict", error="invalid_token", error_d/);
  });

  test('does not outlive the one it is made with, and names what was made with it when it goes', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const short = await make('/keys', { name: 'short', role: 'admin', expiresAt: soon });
    const refused = await as(short.value, 'POST', '/keys', { name: 'for ever', role: 'viewer' });
    expect([refused.status, refused.body.errors[0].path]).toEqual([403, 'expiresAt']);
    const child = await make('/keys', { name: 'child', role: 'viewer', expiresAt: soon }, short.value);
    const gone = await as(FIRST, 'DELETE', `/keys/${short.id}`);
    expect(gone.body.stillValid).toEqual([child.id]);
  });

  test('of the last admin goes only by force', async () => {
    const { body } = await as(FIRST, 'GET', '/keys');
    const admins = body.items.filter(
      (key: { role: string; revokedAt: unknown }) => key.role === 'admin' && !key.revokedAt,
    );
    expect(admins).toHaveLength(1);
    // One who has never come is no admin yet.
    await make('/members', { subject: 'nobody@example.com', role: 'admin' });
    const refused = await as(FIRST, 'DELETE', `/keys/${admins[0].id}`);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('?force=true')]);
    expect((await as(FIRST, 'GET', '/whoami')).status).toBe(200);
  });

  test.each([
    ['a role there is not', { name: 'x', role: 'owner' }, 'role'],
    ['an expiry in the past', { name: 'x', role: 'viewer', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a name of two lines', { name: 'x\ny', role: 'viewer' }, 'name'],
    ['what it does not know', { name: 'x', role: 'viewer', value: 'mine' }, 'value'],
  ])('with %s is refused', async (_title, body, path) => {
    const reply = await as(FIRST, 'POST', '/keys', body);
    expect([reply.status, reply.body.errors[0].path]).toEqual([400, path]);
  });
});

describe('a member', () => {
  test('by e-mail is whoever first proves the address; removed, the member’s keys go, too', async () => {
    await make('/members', { subject: 'Ada@Example.com', role: 'admin' });
    const unproven = await people.token({ email: 'ada@example.com', email_verified: false });
    expect((await as(unproven, 'GET', '/runs')).status).toBe(403);
    const ada = await people.token({ email: 'ada@example.com', email_verified: true });
    expect((await as(ada, 'GET', '/runs')).status).toBe(200);
    const impostor = await people.token({ sub: 'eve', email: 'ada@example.com', email_verified: true });
    expect((await as(impostor, 'GET', '/runs')).status).toBe(403);

    const subject = `oidc:${new URL(people.state.url).host}:ada`;
    const key = await make('/keys', { name: 'of ada', role: 'admin' }, ada);
    const viewer = await make('/keys', { name: 'of ada', role: 'viewer' }, ada);
    expect(key.createdBy).toBe(subject);
    const demoted = await as(FIRST, 'PATCH', `/members/${encodeURIComponent(subject)}`, { role: 'member' });
    expect(demoted.body).toMatchObject({ subject, role: 'member', email: 'ada@example.com', revokedKeys: [key.id] });
    const removed = await as(FIRST, 'DELETE', `/members/${encodeURIComponent('ada@example.com')}`);
    expect(removed.body.revokedKeys).toEqual([viewer.id]);
    expect((await as(viewer.value, 'GET', '/runs')).status).toBe(401);
    expect((await as(ada, 'GET', '/runs')).status).toBe(403);
  });

  test('in several workspaces says which one is meant', async () => {
    expect((await as(OPERATOR, 'POST', '/workspaces', { id: 'lab' })).status).toBe(201);
    const inLab = { 'x-everdict-workspace': 'lab' };
    const bob = await people.token({ sub: 'bob' });
    const subject = `oidc:${new URL(people.state.url).host}:bob`;
    await make('/members', { subject, role: 'member' });
    expect((await as(bob, 'GET', '/whoami')).body).toMatchObject({ subject, workspace: 'default', role: 'member' });
    const joined = await as(OPERATOR, 'POST', '/members', { subject, role: 'viewer' }, inLab);
    expect(joined.status).toBe(201);
    // What others write changes nothing until he goes there.
    expect((await as(bob, 'GET', '/runs')).status).toBe(200);
    expect((await as(bob, 'GET', '/runs', undefined, inLab)).status).toBe(200);
    const unclear = await as(bob, 'GET', '/runs');
    expect([unclear.status, unclear.body.code]).toEqual([400, 'WORKSPACE_REQUIRED']);
    expect(unclear.body.detail).toContain('default, lab');
    expect((await as(bob, 'GET', '/workspaces')).body.items).toEqual([
      { id: 'default', role: 'member' },
      { id: 'lab', role: 'viewer' },
    ]);
    const there = await as(bob, 'GET', '/whoami', undefined, inLab);
    expect(there.body).toMatchObject({ workspace: 'lab', role: 'viewer' });

    const { id, value } = await make('/keys', { name: 'two', role: 'member' });
    const own = await as(FIRST, 'POST', '/members', { subject: `key:${id}`, role: 'admin' });
    expect([own.status, own.body.errors[0].path]).toEqual([409, 'subject']);
    await as(OPERATOR, 'POST', '/members', { subject: `key:${id}`, role: 'viewer' }, inLab);
    const [atHome, abroad] = [await as(value, 'GET', '/whoami'), await as(value, 'GET', '/whoami', undefined, inLab)];
    expect([atHome.body.workspace, abroad.body.workspace]).toEqual(['default', 'lab']);
  });
});

test('whoever is removed while a body of theirs is on its way makes nothing', async () => {
  const admin = await make('/keys', { name: 'about to go', role: 'admin' });
  const body = JSON.stringify({ name: 'back door', role: 'admin' });
  const headers = {
    authorization: `Bearer ${admin.value}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const sent = request(`${api.url}/keys`, { method: 'POST', headers });
  const status = new Promise((resolve) => sent.on('response', (response) => resolve(response.resume().statusCode)));
  sent.write(body.slice(0, 10));
  await eventually('the request has come', async () => {
    const { body: keys } = await as(FIRST, 'GET', '/keys');
    return keys.items.find(({ id }: { id: string }) => id === admin.id).lastUsedAt !== null;
  });
  await as(FIRST, 'DELETE', `/keys/${admin.id}`);
  sent.end(body.slice(10));
  expect(await status).toBe(401);
  const store = new KeyStore(api.database.dataSource);
  const late = store.create('default', { name: 'x', role: 'admin', scope: 'admin', createdBy: `key:${admin.id}` }, 'x');
  await expect(late).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

describe('a token', () => {
  const past = () => Math.floor(Date.now() / 1_000) - 120;
  test.each([
    ['of another audience', () => people.token({ aud: 'somebody' })],
    ['that is over', () => people.token({ exp: past() })],
    ['that another signed', () => people.token({}, { isForged: true })],
    ['of an issuer nobody set up', () => people.token({ iss: 'https://elsewhere.example' })],
    [
      'without a signature',
      async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await people.token({})).split('.')[1]}.`,
    ],
    [
      'signed with the public key as a secret',
      async () => {
        const claims = { iss: people.state.url, aud: 'everdict', sub: 'ada' };
        return new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .setExpirationTime('5m')
          .sign(Buffer.alloc(32));
      },
    ],
  ])('%s is refused', async (_title, token) => {
    const reply = await as(await token(), 'GET', '/whoami');
    expect([reply.status, reply.body.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('is believed within a minute of its end, and its issuer asked for keys once', async () => {
    const asked = people.state.asked;
    const late = await people.token({ exp: Math.floor(Date.now() / 1_000) - 20 });
    expect((await as(late, 'GET', '/whoami')).status).toBe(200);
    expect(people.state.asked).toBe(asked);
  });

  test('of a workflow is CI where its repository, ref and environment are bound', async () => {
    const claims = { repository: 'Acme/Agent', ref: 'refs/heads/main', environment: 'prod' };
    const main = await github.token(claims);
    expect((await as(main, 'GET', '/runs')).status).toBe(403);
    const binding = await make('/ci-bindings', {
      repository: 'acme/agent',
      ref: 'refs/heads/main',
      environment: 'prod',
    });
    const me = await as(main, 'GET', '/whoami');
    expect(me.body).toMatchObject({ subject: 'github:acme/agent', role: 'ci', scope: 'write', workspace: 'default' });
    for (const other of [{ ref: 'refs/heads/dev' }, { environment: 'test' }, { repository: 'acme/other' }]) {
      expect((await as(await github.token({ ...claims, ...other }), 'GET', '/runs')).status).toBe(403);
    }
    await as(FIRST, 'DELETE', `/ci-bindings/${binding.id}`);
    expect((await as(main, 'GET', '/runs')).status).toBe(403);
  });

  test('that cannot be checked, since its issuer is down, is a 503 and no failed login', async () => {
    const down = await anIssuer();
    down.state.isDown = true;
    const env = { EVERDICT_OIDC_ISSUER: down.state.url, EVERDICT_OIDC_AUDIENCE: 'everdict' };
    const other = await startApi({ env });
    const authorization = `Bearer ${await down.token({})}`;
    const reply = await other.send('GET', '/whoami', undefined, { authorization });
    expect([reply.status, reply.body.code, reply.headers.get('retry-after')]).toEqual([503, 'ISSUER_UNREACHABLE', '5']);
    down.state.isDown = false;
    expect((await other.send('GET', '/whoami', undefined, { authorization })).status).toBe(200);
    down.close();
    await other.close();
  });
});

test('a source that fails too often is refused unchecked, but for what was accepted from it before', async () => {
  const from = { 'x-forwarded-for': '203.0.113.9' };
  const known = await make('/keys', { name: 'known there', role: 'viewer' });
  const fresh = await make('/keys', { name: 'new there', role: 'viewer' });
  expect((await as(known.value, 'GET', '/whoami', undefined, from)).status).toBe(200);
  const guesses = Array.from({ length: 200 }, (_, n) => as(`guess-${n}`, 'GET', '/whoami', undefined, from));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(25);
  const limited = await as(fresh.value, 'GET', '/whoami', undefined, from);
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(66);
  expect((await as(known.value, 'GET', '/whoami', undefined, from)).status).toBe(200);
  expect((await as(fresh.value, 'GET', '/whoami')).status).toBe(200);
});

test('authentication answers any Host, and no page of another origin; metrics are the operator’s', async () => {
  const { port } = new URL(api.url);
  const foreign = await as(FIRST, 'GET', '/whoami', undefined, { origin: 'https://attacker.example' });
  expect(foreign.status).toBe(403);
  expect((await api.send('GET', '/metrics')).status).toBe(401);
  expect((await as(FIRST, 'GET', '/metrics')).status).toBe(403);
  expect((await as(OPERATOR, 'GET', '/metrics')).status).toBe(200);
  expect((await as(FIRST, 'GET', `/whoami?port=${port}`)).headers.get('x-everdict-mode')).toBeNull();
});

test('without a key or an issuer everybody on this machine may everything, is told so, and is asked once there is a key', async () => {
  const open = await startApi();
  const me = await open.send('GET', '/whoami');
  expect(me.body).toMatchObject({
    subject: 'local',
    mode: 'dev',
    workspace: 'default',
    role: 'admin',
    isOperator: true,
  });
  expect(me.headers.get('x-everdict-mode')).toBe('dev');
  expect((await open.send('GET', '/docs')).body).toContain('Development mode');
  const first = await open.send('POST', '/keys', { name: 'first', role: 'admin' });
  expect(first.status).toBe(201);
  await eventually('a key is asked for', async () => (await open.send('GET', '/whoami')).status === 401);
  const authorization = `Bearer ${first.body.value}`;
  expect((await open.send('GET', '/whoami', undefined, { authorization })).body.mode).toBe('authenticated');
  await open.close();
});
