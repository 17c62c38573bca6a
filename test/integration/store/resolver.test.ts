import { createSecretKey, randomBytes } from 'node:crypto';
import { Egress } from '../../../backends/egress/guard.js';
import { BackendResolver, type ResolvedRuntime } from '../../../backends/resolver.js';
import { FakeNomad } from '../../../dev/fake-nomad/fake-nomad.js';
import { parseAllowList } from '../../../policy/addresses.js';
import { ClusterCredentials } from '../../../secrets/cluster-credential.js';
import { Sealer } from '../../../secrets/sealer.js';
import { SecretStore } from '../../../secrets/secret.store.js';
import { aNomadRuntime, aRuntime, PATIENCE } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { countQueries } from '../api/query-count.js';

const [FIRST, SECOND] = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'] as const;
const MANAGEMENT = { type: 'management' as const };

let db: TestDatabase;
let secrets: SecretStore;
let nomad: FakeNomad;
const tokens: Record<string, typeof MANAGEMENT> = {};

beforeAll(async () => {
  db = await createTestDatabase();
  const sealer = new Sealer([{ id: 'k', key: createSecretKey(randomBytes(32)) }]);
  secrets = new SecretStore({ dataSource: db.dataSource, sealer });
  nomad = await FakeNomad.start({ acl: { tokens } });
});
afterAll(async () => {
  await nomad.stop();
  await db.drop();
});
beforeEach(async () => {
  accept(FIRST);
  nomad.reset();
  await set(FIRST);
});

const accept = (token: string): void => {
  for (const known of Object.keys(tokens)) delete tokens[known];
  tokens[token] = MANAGEMENT;
};
const set = (value: string) =>
  secrets.put('default', { name: 'token', use: 'cluster', bindings: [nomad.url], value }, 'me');

/** What one process has. */
const resolver = () =>
  new BackendResolver({
    clusters: {
      credentials: new ClusterCredentials(secrets),
      egress: new Egress(parseAllowList('127.0.0.0/8').rules),
      deployment: 'dep',
      nomadConnections: 1,
      patience: PATIENCE,
    },
  });
const target = (parts: Record<string, unknown> = {}) => ({
  owner: 'default',
  spec: aNomadRuntime({ addr: nomad.url, authSecret: 'token', ...parts }),
  isConfirmed: true,
});
const look = ({ cluster }: ResolvedRuntime) => cluster.inspect(AbortSignal.timeout(5_000));
const used = () => [...new Set(nomad.requests.map(({ token }) => token))];

test('connections are kept for as long as the secret stays as it is', async () => {
  const process = resolver();
  await process.use(target(), look);
  const seen = await process.use(target(), async (runtime) => [await look(runtime), runtime] as const);
  expect(nomad.connections).toBe(1);
  expect(seen[1]).toMatchObject({ zone: 'default', credential: { name: 'token', token: FIRST } });
  await set(FIRST);
  await process.use(target(), look);
  expect(nomad.connections).toBe(2);
  process.close();
});

test('a secret that is set anew is noticed by every process at its next use', async () => {
  const processes = [resolver(), resolver()];
  for (const process of processes) await process.use(target(), look);
  await set(SECOND);
  accept(SECOND);
  nomad.reset();
  for (const process of processes) await process.use(target(), look);
  expect(used()).toEqual([SECOND]);
  for (const process of processes) process.close();
});

test('work that is under way keeps its credential until that is refused, and then goes on with the new one', async () => {
  const process = resolver();
  const begun: string[] = [];
  const result = await process.use(target(), async (runtime) => {
    begun.push(runtime.credential?.token ?? '');
    if (begun.length === 1) {
      await look(runtime);
      await set(SECOND);
      // Dropped by another use, and still good for this one.
      await process.use(target(), async () => undefined);
      await look(runtime);
      accept(SECOND);
    }
    return (await look(runtime)).kind;
  });
  expect([result, begun]).toEqual(['nomad', [FIRST, SECOND]]);
  process.close();
});

test('a refusal stands where the secret has not changed, and is not tried again', async () => {
  accept(SECOND);
  let begun = 0;
  const refused = resolver().use(target(), async (runtime) => {
    begun += 1;
    return look(runtime);
  });
  await expect(refused).rejects.toMatchObject({ reason: 'auth' });
  expect(begun).toBe(1);
});

test.each([
  ['that is not there', { authSecret: 'gone' }, /the secret gone, which is not there/],
  ['for another address', { addr: 'http://127.0.0.1:1' }, /may be sent to http:\/\/127/],
])('a secret %s is a fault of the configuration, by its name, and nothing is asked', async (_title, parts, message) => {
  const refused = resolver().use(target(parts), look);
  await expect(refused).rejects.toMatchObject({ code: 'SECRET_MISSING', message: expect.stringMatching(message) });
  expect(nomad.requests).toEqual([]);
});

test('a version that nobody confirmed is spoken to without a secret', async () => {
  await expect(resolver().use({ ...target(), isConfirmed: false }, look)).rejects.toMatchObject({ reason: 'auth' });
  expect(used()).toEqual([undefined]);
});

test('a version that was unconfirmed, and is replaced and confirmed, is spoken to at its new address and with its secret', async () => {
  const process = resolver();
  const elsewhere = await FakeNomad.start();
  await process.use({ ...target({ addr: elsewhere.url }), isConfirmed: false }, look);
  const asked = elsewhere.requests.length;
  await process.use(target(), look);
  expect([elsewhere.requests.length, used()]).toEqual([asked, [FIRST]]);
  await secrets.remove('default', 'token');
  await expect(process.use(target(), look)).rejects.toMatchObject({ code: 'SECRET_MISSING' });
  process.close();
  await elsewhere.stop();
});

test('a local runtime costs no query', async () => {
  const queries = countQueries(db.dataSource);
  const zone = await resolver().use({ ...target(), spec: aRuntime() }, async (runtime) => runtime.zone);
  queries.stop();
  expect([zone, queries.count()]).toEqual(['default', 0]);
});
