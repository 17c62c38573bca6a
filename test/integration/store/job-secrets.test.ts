import { createSecretKey } from 'node:crypto';
import { JobSecrets, maskOf } from '../../../activities/job-secrets.js';
import { WorkspaceId } from '../../../contracts/ids.js';
import type { RuntimeSpec } from '../../../contracts/runtime.js';
import type { SecretUse } from '../../../contracts/secret.js';
import { Sealer } from '../../../secrets/sealer.js';
import { SecretStore } from '../../../secrets/secret.store.js';
import { aCase, aHarness, aNomadRuntime, aRuntime } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

const WORKSPACE = WorkspaceId.parse('default');

let db: TestDatabase;
let secrets: SecretStore;
let jobs: JobSecrets;
beforeAll(async () => {
  db = await createTestDatabase();
  const sealer = new Sealer([{ id: 'a', key: createSecretKey(Buffer.alloc(32, 1)) }]);
  secrets = new SecretStore({ dataSource: db.dataSource, sealer });
  jobs = new JobSecrets(secrets);
});
afterAll(() => db.drop());
afterEach(() => db.dataSource.query('DELETE FROM secrets; DELETE FROM replaced_secrets'));

const put = (name: string, use: SecretUse, bindings: string[], value: string) =>
  secrets.put('default', { name, use, bindings, value }, 'me');

const needs = (image: string, runtime: RuntimeSpec = aNomadRuntime()) => ({
  workspaceId: WORKSPACE,
  harness: aHarness({ env: { KEY: { secretRef: 'model' } } }),
  case: aCase({ image }),
  runtime,
  isConfirmed: true,
});

describe('on a cluster', () => {
  beforeEach(async () => {
    await put('model', 'env', [], 'S3cr3t-MODEL');
    await put('database', 'env', [], 'S3cr3t-DATABASE');
    await put('token', 'cluster', ['https://nomad.example:4646'], 'S3cr3t-CLUSTER');
    await put('pull', 'registry', ['a.example'], 'rob:S3cr3t-PULL');
  });

  test('C21 a job is given the secret that its harness names, and no other', async () => {
    expect(await jobs.of(needs('b.example/x:1'))).toEqual({ env: new Map([['model', 'S3cr3t-MODEL']]) });
    expect(await jobs.of({ ...needs('b.example/x:1'), harness: aHarness() })).toEqual({ env: new Map() });
  });

  test('C27 the credential of a registry goes with an image of it, and with no other', async () => {
    const { registry } = await jobs.of(needs('a.example/x:1'));
    expect(registry).toEqual({ username: 'rob', password: 'S3cr3t-PULL' });
    for (const image of ['b.example/x', 'a.example.b.example/x', 'a.example:5000/x', 'x', 'b.example/a.example/x']) {
      expect(await jobs.of(needs(image))).not.toHaveProperty('registry');
    }
  });

  test('no credential is read for a runtime that pulls no image', async () => {
    for (const runtime of [aRuntime(), aNomadRuntime({ driver: 'exec' }), aNomadRuntime({ driver: 'raw_exec' })]) {
      expect(await jobs.of(needs('a.example/x:1', runtime))).not.toHaveProperty('registry');
    }
  });

  test('nor for what nobody has confirmed', async () => {
    expect(await jobs.of({ ...needs('a.example/x'), harness: aHarness(), isConfirmed: false })).toEqual({
      env: new Map(),
    });
  });
});

test('a secret for the registry of images without a host may be bound to any of its names', async () => {
  await put('hub', 'registry', ['index.docker.io'], 'dckr_1');
  await put('model', 'env', [], 'x');
  expect((await jobs.of(needs('debian:12'))).registry).toEqual({ username: 'token', password: 'dckr_1' });
});

test('a credential that does not open is named, and what needs it', async () => {
  await put('model', 'env', [], 'x');
  await put('pull', 'registry', ['a.example'], 'rob:pw');
  await db.dataSource.query(`UPDATE secrets SET bindings = '{b.example}' WHERE name = 'pull'`);
  await expect(jobs.of(needs('b.example/x:1'))).rejects.toMatchObject({
    code: 'SECRET_MISSING',
    message: expect.stringMatching(/^the registry of the image needs the secret pull, which /),
  });
});

test('a credential is masked in what its job says, also by who goes on with it once it is another', async () => {
  await put('model', 'env', [], 'S3cr3t-MODEL');
  await put('pull', 'registry', ['a.example'], 'rob:S3cr3t-OLD');
  const openedAt = Date.now();
  const said = 'S3cr3t-MODEL S3cr3t-OLD S3cr3t-NEW rob';
  expect(maskOf(await jobs.of(needs('a.example/x'))).text(said)).toBe('************ ********** S3cr3t-NEW rob');
  await put('pull', 'registry', ['a.example'], 'rob:S3cr3t-NEW');
  const masked = '************ ********** ********** rob';
  expect((await jobs.maskSince(needs('a.example/x'), openedAt)).text(said)).toBe(masked);
  await secrets.remove('default', 'pull');
  expect((await jobs.maskSince(needs('a.example/x'), openedAt)).text(said)).toBe(masked);
  expect((await jobs.maskSince(needs('b.example/x'), openedAt)).text(said)).toContain('S3cr3t-OLD');
});
