import { createSecretKey } from 'node:crypto';
import { ClusterCredentials } from '../../../secrets/cluster-credential.js';
import { Sealer } from '../../../secrets/sealer.js';
import { SecretStore } from '../../../secrets/secret.store.js';
import { rows } from '../../../store/sql.js';
import { aNomadRuntime, aRuntime } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

const keyOf = (id: string, byte: number) => ({ id, key: createSecretKey(Buffer.alloc(32, byte)) });
const ORIGIN = 'https://nomad.example:4646';
const NOMAD = { addr: `${ORIGIN}/`, authSecret: 'token' };

let db: TestDatabase;
let secrets: SecretStore;
const storeWith = (...keys: ReturnType<typeof keyOf>[]) =>
  new SecretStore({ dataSource: db.dataSource, sealer: new Sealer(keys) });
const clusterSecret = (value: string, origins = [ORIGIN]) => ({
  name: 'token',
  use: 'cluster' as const,
  bindings: origins,
  value,
});

beforeAll(async () => {
  db = await createTestDatabase();
  secrets = storeWith(keyOf('a', 1));
});
afterAll(() => db.drop());

test('a value is read back as it was set, under a version of its own, and its row does not hold it', async () => {
  const value = 'line one\n"two" $three ü';
  expect(await secrets.put('default', { name: 'model', use: 'env', bindings: [], value }, 'me')).toBe('created');
  const [first] = await secrets.open('default', ['model']);
  expect(first).toMatchObject({ kind: 'open', value, use: 'env' });
  expect(await secrets.put('default', { name: 'model', use: 'env', bindings: [], value }, 'me')).toBe('replaced');
  const [second] = await secrets.open('default', ['model']);
  expect(second).not.toMatchObject({ version: (first as { version: number }).version });
  const [stored] = await rows<{ all: string }>(db.dataSource, `SELECT secrets::text AS all FROM secrets`);
  expect(stored?.all).not.toContain(Buffer.from(value).toString('hex'));
});

test('a row that was moved to another name does not open, and says so by its name', async () => {
  await secrets.put('default', clusterSecret('S3cr3t'), 'me');
  await db.dataSource.query(`INSERT INTO secrets (workspace_id, name, use, bindings, sealed, key_id, updated_by)
    SELECT workspace_id, 'moved', use, bindings, sealed, key_id, updated_by FROM secrets WHERE name = 'token'`);
  expect(await secrets.open('default', ['moved', 'nothing'])).toMatchObject([
    { kind: 'closed', name: 'moved', reason: expect.stringContaining('does not open with key a') },
    { kind: 'missing', name: 'nothing' },
  ]);
});

describe('the credential of a runtime', () => {
  const credentials = () => new ClusterCredentials(secrets);
  beforeAll(() => secrets.put('default', clusterSecret('S3cr3t-AAAA'), 'me'));

  test('is the secret it names, for an address of the origin', async () => {
    expect(await credentials().required('default', aNomadRuntime(NOMAD))).toMatchObject({
      name: 'token',
      token: 'S3cr3t-AAAA',
      origins: [ORIGIN],
    });
    expect(await credentials().of('default', aRuntime({}))).toEqual({ kind: 'none' });
  });

  test.each([
    ['another address', { ...NOMAD, addr: 'https://evil.example:4646' }, 'refused', /may be sent to https:\/\/nomad/],
    ['a name that is not there', { ...NOMAD, authSecret: 'gone' }, 'missing', /the secret gone, which is not there/],
    ['a secret for something else', { ...NOMAD, authSecret: 'model' }, 'refused', /is for env/],
    ['a row that does not open', { ...NOMAD, authSecret: 'moved' }, 'refused', /moved, which does not open/],
  ])('is refused for %s, naming secret and field', async (_title, spec, kind, message) => {
    const reply = await credentials().of('default', aNomadRuntime(spec));
    expect(reply).toMatchObject({ kind, fault: { path: 'authSecret', message: expect.stringMatching(message) } });
    expect(JSON.stringify(reply)).not.toContain('S3cr3t');
    await expect(credentials().required('default', aNomadRuntime(spec))).rejects.toMatchObject({
      code: 'SECRET_MISSING',
    });
  });

  test('is refused where it could be no header', async () => {
    await secrets.put('default', { ...clusterSecret('S3cr3t\nX-Evil: 1'), name: 'lines' }, 'me');
    const reply = await credentials().of('default', aNomadRuntime({ ...NOMAD, authSecret: 'lines' }));
    expect(reply).toMatchObject({ kind: 'refused', fault: { message: expect.stringContaining('no token') } });
  });
});
