import { HarnessStore } from '../../../store/harness.store.js';
import { PoolStore } from '../../../store/pool.store.js';
import { RegistryStore } from '../../../store/registry.store.js';
import { RuntimeStore } from '../../../store/runtime.store.js';
import { aHarness, aNomadRuntime, aRuntime, MEMBER, VIEWER } from '../../builders.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

let db: TestDatabase;
let runtimes: RuntimeStore;
let harnesses: HarnessStore;
let registry: RegistryStore;
let pools: PoolStore;
beforeAll(async () => {
  db = await createTestDatabase({ poolSize: 20 });
  await db.dataSource.query(`INSERT INTO workspaces (id) VALUES ('acme'), ('beta')`);
  runtimes = new RuntimeStore(db.dataSource);
  harnesses = new HarnessStore(db.dataSource);
  registry = new RegistryStore(db.dataSource);
  pools = new PoolStore(db.dataSource);
});
afterAll(() => db.drop());

const meaning = async (workspace: string, ref: string) => {
  const found = await harnesses.find(workspace, ref);
  return found && `${found.owner} ${found.version}`;
};

/** Versions of an id as a workspace sees them. */
const seen = async (workspace: string, id: string) =>
  (await registry.list('harnesses', workspace, { id, limit: 100 })).map(
    ({ content, record: { owner, confirmed, latest } }) =>
      `${owner} ${(content as { version: string }).version}${confirmed ? '' : ' unconfirmed'}${latest ? ' latest' : ''}`,
  );

describe('a shared version', () => {
  beforeAll(async () => {
    await harnesses.insert('_shared', aHarness({ id: 'shared', version: '1.0.0' }), MEMBER);
    await harnesses.insert('acme', aHarness({ id: 'shared', version: '2.0.0' }), MEMBER);
  });

  test('A07: is hidden from a workspace that has the id itself, and seen by the others', async () => {
    expect([await meaning('acme', 'shared'), await meaning('beta', 'shared')]).toEqual(['acme 2.0.0', '_shared 1.0.0']);
    expect([await meaning('acme', 'shared@1.0.0'), await meaning('beta', 'shared@2.0.0')]).toEqual([
      undefined,
      undefined,
    ]);
    expect([await seen('acme', 'shared'), await seen('beta', 'shared')]).toEqual([
      ['acme 2.0.0 latest'],
      ['_shared 1.0.0 latest'],
    ]);
  });

  test('is hidden by no version that nobody confirmed, not even under the same name', async () => {
    await harnesses.insert('beta', aHarness({ id: 'shared', version: '9.0.0' }), VIEWER);
    const other = aHarness({ id: 'shared', version: '1.0.0', command: 'false' });
    expect(await harnesses.insert('beta', other, VIEWER)).toMatchObject({ kind: 'conflict', differs: ['command'] });
    expect(await meaning('beta', 'shared')).toBe('_shared 1.0.0');
    expect(await meaning('beta', 'shared@9.0.0')).toBe('beta 9.0.0');
    expect(await seen('beta', 'shared')).toEqual(['_shared 1.0.0 latest', 'beta 9.0.0 unconfirmed']);

    await registry.confirm('harnesses', 'beta', { id: 'shared', version: '9.0.0' }, 'mel');
    expect(await seen('beta', 'shared')).toEqual(['beta 9.0.0 latest']);
  });

  test('has one pool for all who share it', async () => {
    await runtimes.insert('_shared', aRuntime({ id: 'farm' }), { slots: 7 }, MEMBER);
    expect(await runtimes.find('acme', 'farm')).toMatchObject({ poolId: 'rt:_shared:farm', envelope: { slots: 7 } });
    expect(await runtimes.find('beta', 'farm')).toMatchObject({ poolId: 'rt:_shared:farm', owner: '_shared' });
  });

  test('A13: is not tagged, deprecated or confirmed by those who share it', async () => {
    const name = { id: 'farm', version: '1.0.0' };
    expect(await registry.setTags('runtimes', 'acme', name, ['x'])).toBeUndefined();
    expect(await registry.deprecate('runtimes', 'acme', name, 'mel', undefined)).toBeUndefined();
    expect(await registry.confirm('runtimes', 'acme', name, 'mel')).toBeUndefined();
    expect(await registry.setTags('runtimes', '_shared', name, ['x'])).toMatchObject({
      version: { record: { tags: ['x'] } },
    });
  });
});

describe('a version that nobody confirmed', () => {
  const nomad = (version: string, parts: object = {}) => aNomadRuntime({ id: 'prod', version, ...parts });
  const latest = async () => (await runtimes.find('acme', 'prod'))?.version;

  test('moves neither the latest nor the limits, until somebody confirms it who may', async () => {
    await runtimes.insert('acme', nomad('1.0.0'), { slots: 4 }, MEMBER);
    const evil = nomad('2.0.0', { addr: 'http://evil.example.test', maxConcurrent: 99 });
    expect(await runtimes.insert('acme', evil, { slots: 99 }, VIEWER)).toMatchObject({ isConfirmed: false });

    expect(await latest()).toBe('1.0.0');
    expect(await pools.limits('rt:acme:prod')).toMatchObject({ version: 1, envelope: { slots: 4 } });
    expect(await runtimes.find('acme', 'prod@2.0.0')).toMatchObject({ isConfirmed: false, envelope: { slots: 99 } });

    const confirmed = await registry.confirm('runtimes', 'acme', evil, 'mel');
    expect(confirmed).toMatchObject({
      version: { record: { confirmed: true, confirmedBy: 'mel', registeredBy: 'vic', latest: true } },
      limits: { poolId: 'rt:acme:prod', envelopeVersion: 2 },
    });
    expect(await latest()).toBe('2.0.0');
    expect(await pools.limits('rt:acme:prod')).toMatchObject({ version: 2, envelope: { slots: 99 } });
  });

  test('has no pool as the first, and gives way to what a member registers under its name, of another kind too', async () => {
    const squat = aRuntime({ id: 'taken', version: '1.0.0' });
    await runtimes.insert('acme', squat, { slots: 1 }, VIEWER);
    await expect(pools.limits('rt:acme:taken')).rejects.toThrow('rt:acme:taken');

    const mine = aNomadRuntime({ id: 'taken', version: '1.0.0' });
    expect(await runtimes.insert('acme', mine, { slots: 5 }, MEMBER)).toMatchObject({
      kind: 'inserted',
      isConfirmed: true,
    });
    expect(await runtimes.find('acme', 'taken')).toMatchObject({ spec: mine, envelope: { slots: 5 } });
    expect(await runtimes.insert('acme', squat, { slots: 1 }, VIEWER)).toMatchObject({ kind: 'conflict' });
    await expect(
      runtimes.insert('acme', aRuntime({ id: 'taken', version: '3' }), { slots: 1 }, VIEWER),
    ).rejects.toThrow('of kind nomad in all its versions');
  });

  test('is confirmed by a member who registers the same again', async () => {
    const spec = nomad('3.0.0');
    expect(await runtimes.insert('acme', spec, { slots: 3 }, VIEWER)).toMatchObject({ kind: 'inserted' });
    expect(await runtimes.insert('acme', spec, { slots: 3 }, VIEWER)).toMatchObject({
      kind: 'unchanged',
      isConfirmed: false,
    });
    expect(await runtimes.insert('acme', spec, { slots: 3 }, MEMBER)).toMatchObject({
      kind: 'confirmed',
      limits: { envelopeVersion: 3 },
    });
  });
});

describe('the limits of a pool', () => {
  const name = (version: string) => ({ id: 'dial', version });
  const limits = async () => {
    const { version, envelope } = await pools.limits('rt:acme:dial');
    return [version, envelope.slots];
  };

  test('follow the latest when versions are deprecated and restored, and stay when all are', async () => {
    for (const [version, slots] of Object.entries({ '1.0.0': 1, '2.0.0': 2 })) {
      await runtimes.insert('acme', aRuntime({ ...name(version), maxConcurrent: slots }), { slots }, MEMBER);
    }
    expect(await limits()).toEqual([2, 2]);
    await registry.deprecate('runtimes', 'acme', name('2.0.0'), 'mel', 'moved');
    expect([await limits(), (await runtimes.find('acme', 'dial'))?.version]).toEqual([[3, 1], '1.0.0']);
    expect(await runtimes.find('acme', 'dial@2.0.0')).toMatchObject({ isDeprecated: true, deprecatedReason: 'moved' });

    await registry.deprecate('runtimes', 'acme', name('1.0.0'), 'mel', undefined);
    expect([await limits(), await runtimes.find('acme', 'dial')]).toEqual([[3, 1], undefined]);
    expect((await registry.restore('runtimes', 'acme', name('2.0.0')))?.limits?.envelopeVersion).toBe(4);
    expect(await limits()).toEqual([4, 2]);
  });

  test('are those of the latest after any race of registering, confirming, deprecating and restoring', async () => {
    const id = 'storm';
    const insert = (i: number, by = MEMBER) =>
      runtimes.insert('acme', aRuntime({ id, version: `1.${i}.0` }), { slots: i + 1 }, by);
    const calls = Array.from({ length: 12 }, (_, i) => i).flatMap((i) => [
      () => insert(i, VIEWER),
      () => (i % 3 === 0 ? insert(i) : registry.confirm('runtimes', 'acme', { id, version: `1.${i}.0` }, 'mel')),
      () => registry.deprecate('runtimes', 'acme', { id, version: `1.${(i * 5) % 12}.0` }, 'mel', undefined),
      () => (i % 2 === 0 ? registry.restore('runtimes', 'acme', { id, version: `1.${i}.0` }) : insert(i)),
    ]);
    await Promise.all(calls.map((call) => call()));

    const latest = await runtimes.find('acme', id);
    const stored = await db.dataSource.query('SELECT slots FROM runtimes WHERE pk = $1', [latest?.pk]);
    expect((await pools.limits(`rt:acme:${id}`)).envelope).toEqual({ slots: stored[0].slots });
  });
});

test('what was registered before versions had a standing is confirmed, and keeps its limits and tags', async () => {
  const old = await createTestDatabase({ isEmpty: true });
  const runner = old.dataSource.createQueryRunner();
  try {
    const numbered = old.dataSource.migrations.map((migration) => ({
      migration,
      number: Number(/(\d{13})$/.exec(migration.constructor.name)?.[1]),
    }));
    const before = numbered.filter(({ number }) => number < 14);
    for (const { migration } of before) await migration.up(runner);
    const content = JSON.stringify(aRuntime({ id: 'old', maxConcurrent: 6, memoryBudgetMb: 512, tags: ['eu'] }));
    const register = (version: string) =>
      runner.query(
        `INSERT INTO runtimes (workspace_id, id, version, kind, content, content_hash)
         VALUES ('default', 'old', $1, 'local', $2, 'hash')`,
        [version, content],
      );
    await register('1.0.0');
    await runner.query(`INSERT INTO pools (id, workspace_id, runtime_id, kind, slots, memory_mb)
      VALUES ('rt:default:old', 'default', 'old', 'local', 6, 512)`);
    for (const { migration, number } of numbered) if (number === 15) await migration.up(runner);
    // By a process of the older version, which goes on for a while.
    await register('0.9.0');

    const [first, second] = await new RegistryStore(old.dataSource).list('runtimes', 'default', { limit: 10 });
    expect(first?.record).toMatchObject({ tags: ['eu'], confirmed: true, registeredBy: 'local', latest: true });
    expect(second?.record).toMatchObject({ confirmed: true, latest: false });
    expect(await runner.query('SELECT slots, memory_mb FROM runtimes ORDER BY pk')).toEqual([
      { slots: 6, memory_mb: 512 },
      { slots: null, memory_mb: null },
    ]);
    await new RegistryStore(old.dataSource).deprecate(
      'runtimes',
      'default',
      { id: 'old', version: '1.0.0' },
      'mel',
      '',
    );
    expect(await runner.query("SELECT slots, memory_mb FROM pools WHERE id = 'rt:default:old'")).toEqual([
      { slots: 6, memory_mb: 512 },
    ]);
  } finally {
    await runner.release();
    await old.drop();
  }
});
