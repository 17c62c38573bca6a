import { randomBytes } from 'node:crypto';
import { readEnv } from '../../../config/env.js';
import { Sealer } from '../../../secrets/sealer.js';
import { SecretStore } from '../../../secrets/secret.store.js';
import { SecretRotation } from '../../../secrets/secret-rotation.js';
import { type Api, startApi } from './server.js';

const [OLD, NEW] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);
const VALUE = 'S3cr3t-AAAA';
const cluster = { use: 'cluster', value: VALUE, origins: ['HTTPS://Nomad.Example:443/', 'https://nomad.example.'] };

let api: Api;
beforeAll(async () => {
  api = await startApi({ env: { EVERDICT_SECRETS_KEY: `${OLD},${NEW}` } });
}, 60_000);
afterAll(() => api.close());

/** A store with keys of its own, as another process has it. */
function storeWith(keys: string) {
  const { EVERDICT_SECRETS_KEY } = readEnv({ DATABASE_URL: 'postgres://x', EVERDICT_SECRETS_KEY: keys });
  const sealer = new Sealer(EVERDICT_SECRETS_KEY);
  const { dataSource } = api.database;
  return { store: new SecretStore({ dataSource, sealer }), rotation: new SecretRotation(dataSource, sealer) };
}

describe('setting', () => {
  test('a new secret answers 201, with its origins as they are compared and without its value', async () => {
    const { status, body } = await api.send('PUT', '/secrets/nomad-token', cluster);
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'nomad-token',
      use: 'cluster',
      origins: ['https://nomad.example'],
      updatedBy: expect.any(String),
      updatedAt: expect.any(String),
      warnings: [],
    });
    expect((await api.send('PUT', '/secrets/nomad-token', cluster)).status).toBe(200);
  });

  const env = { use: 'env', value: VALUE };
  test.each([
    ['without origins', { use: 'cluster', value: VALUE }, 'origins', /is required/],
    [
      'with a path in an origin',
      { ...cluster, origins: ['https://a.example/x'] },
      'origins[0]',
      /scheme, host and port/,
    ],
    [
      'with a user in an origin',
      { ...cluster, origins: [`https://${VALUE}@a.example`] },
      'origins[0]',
      /is not scheme/,
    ],
    ['for a registry without hosts', { use: 'registry', value: VALUE, hosts: [] }, 'hosts', /is empty/],
    [
      'for git with an address as host',
      { use: 'git', value: VALUE, hosts: ['https://git.example'] },
      'hosts[0]',
      /is not a host/,
    ],
    ['for jobs with hosts', { ...env, hosts: ['a.example'] }, 'hosts', /is not a known key/],
    ['for something else', { use: VALUE, value: 'x' }, 'use', /is not one of cluster, registry, git, env/],
    ['with an empty value', { ...env, value: '' }, 'value', /is empty/],
    ['with a number as value', { ...env, value: 12345678 }, 'value', /is not text/],
    ['with an object as value', { ...env, value: { [VALUE]: 1 } }, 'value', /is not text/],
    ['with NUL in the value', { ...env, value: `${VALUE}\0` }, 'value', /NUL/],
    [
      'with a value that is too long',
      { ...env, value: VALUE.repeat(6_000) },
      'value',
      /longer than the allowed 65536 bytes/,
    ],
  ])('%s is refused by its field, without telling the value', async (_title, input, path, message) => {
    const { status, body } = await api.send('PUT', '/secrets/refused', input);
    expect([status, body.errors]).toEqual([400, [{ path, message: expect.stringMatching(message) }]]);
    expect(JSON.stringify(body)).not.toMatch(/S3cr3t|12345678/);
    expect((await api.send('DELETE', '/secrets/refused')).status).toBe(404);
  });

  test.each([
    `{"use": "env", "value": ${VALUE}}`,
    `{"use": "env", "value": "${VALUE}`,
    `{"use": "env", "value": "${VALUE}"} ${VALUE}`,
  ])('a body that is no JSON is refused without telling it: %#', async (text) => {
    const { status, body } = await api.send('PUT', '/secrets/refused', text);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(JSON.stringify(body)).not.toContain('S3cr3t');
  });

  test.each(['9token', 'a b', 'a'.repeat(129), '_x', 'ü'])('nothing can have the name %s', async (name) => {
    const { status, body } = await api.send('PUT', `/secrets/${encodeURIComponent(name)}`, env);
    expect([status, body.errors]).toEqual([
      400,
      [{ path: 'name', message: expect.stringContaining('begin with a letter') }],
    ]);
  });

  test('a use that others count on is warned of, and so is a value that is too short to be masked', async () => {
    await api.send('POST', '/harnesses', {
      kind: 'command',
      id: 'model',
      version: '1',
      command: 'true',
      env: { KEY: { secretRef: 'model-key' } },
    });
    const { body } = await api.send('PUT', '/secrets/model-key', { ...cluster, value: 'abc' });
    expect(body.warnings).toEqual([
      expect.stringContaining('harness model@1 cannot use it'),
      expect.stringContaining('not masked'),
    ]);
    expect((await api.send('PUT', '/secrets/model-key', env)).body.warnings).toEqual([]);
  });
});

test('the list is paged by name and tells no value', async () => {
  for (const name of ['Zeta', 'alpha']) await api.send('PUT', `/secrets/${name}`, { use: 'env', value: VALUE });
  const first = await api.send('GET', '/secrets?limit=1');
  const rest = await api.send('GET', `/secrets?cursor=${first.body.next}`);
  expect([...first.body.items, ...rest.body.items].map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Zeta', 'alpha', 'nomad-token']),
  );
  expect(first.body.items).toHaveLength(1);
  expect(JSON.stringify([first.body, rest.body])).not.toContain(VALUE);
});

test('a secret that is named is deleted by force only', async () => {
  await api.send('PUT', '/secrets/named', cluster);
  const nomad = {
    kind: 'nomad',
    id: 'gpu',
    version: '1',
    addr: 'https://nomad.example',
    image: 'x',
    authSecret: 'named',
  };
  await api.send('POST', '/runtimes', nomad);
  const refused = await api.send('DELETE', '/secrets/named');
  expect([refused.status, refused.body.errors]).toEqual([409, [{ path: '', message: 'runtime gpu@1 names it' }]]);
  expect((await api.send('DELETE', '/secrets/named?force=true')).status).toBe(204);
  expect((await api.send('DELETE', '/secrets/named')).status).toBe(404);
  expect((await api.send('DELETE', '/secrets/other?force=maybe')).status).toBe(400);
});

test('keys are rotated while secrets are set and read, and nothing is lost', async () => {
  const { dataSource } = api.database;
  await dataSource.query('DELETE FROM secrets');
  const names = Array.from({ length: 150 }, (_, at) => `s${at}`);
  const input = (name: string, value: string) => ({ name, use: 'env' as const, bindings: [], value });
  const before = storeWith(`${OLD},${NEW}`);
  await Promise.all(names.map((name) => before.store.put('default', input(name, `${name}-1`), 'me')));
  const after = storeWith(`${NEW},${OLD}`);
  const written = names.filter((_, at) => at % 3 === 0);
  const [rotated] = await Promise.all([
    after.rotation.rotate(),
    ...written.map((name) => before.store.put('default', input(name, `${name}-2`), 'me')),
    ...names.map(async (name) => {
      const [reading] = await before.store.open('default', [name]);
      expect(reading).toMatchObject({ kind: 'open', value: expect.stringMatching(`^${name}-[12]$`) });
    }),
  ]);
  expect(rotated).toMatchObject({ key: 'new', unreadable: [] });
  expect(await after.rotation.rotate()).toMatchObject({ unreadable: [], unneeded: ['old'] });
  const readings = await storeWith(NEW ?? '').store.open('default', names);
  expect(readings).toMatchObject(
    names.map((name) => ({ kind: 'open', value: written.includes(name) ? `${name}-2` : `${name}-1` })),
  );
  expect((await api.send('POST', '/secrets/rotate-key')).body).toMatchObject({ key: 'old', resealed: 150 });

  await dataSource.query(`UPDATE secrets SET key_id = 'gone' WHERE name = 's7'`);
  const partly = await after.rotation.rotate();
  expect(partly).toMatchObject({ resealed: 149, unneeded: ['old'] });
  expect(partly.unreadable).toEqual([
    { workspace: 'default', name: 's7', reason: expect.stringContaining('key gone') },
  ]);
});

test('no answer, no log line and no row of any table holds a value', async () => {
  const { dataSource } = api.database;
  const tables: { name: string }[] = await dataSource.query(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const rows = await Promise.all(tables.map(({ name }) => dataSource.query(`SELECT t::text FROM ${name} t`)));
  const text = JSON.stringify(rows) + api.logLines.join('');
  for (const form of ['utf8', 'hex', 'base64'] as const) expect(text).not.toContain(Buffer.from(VALUE).toString(form));
});

test('without a key secrets are refused by the name of the variable', async () => {
  const bare = await startApi();
  try {
    const { status, body } = await bare.send('PUT', '/secrets/a', { use: 'env', value: VALUE });
    expect([status, body.code]).toEqual([501, 'SECRETS_DISABLED']);
    expect(body.detail).toContain('EVERDICT_SECRETS_KEY');
    expect((await bare.send('GET', '/secrets')).body.items).toEqual([]);
  } finally {
    await bare.close();
  }
});
