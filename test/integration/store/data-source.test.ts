import { createDataSource, migrate, requirePostgres } from '../../../store/data-source.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

const TABLES = `SELECT count(*) AS count FROM information_schema.tables WHERE table_schema = 'public'`;

describe('migrate', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase({ isEmpty: true });
  });
  afterAll(() => db.drop());

  test('processes that start together migrate once', async () => {
    const others = await Promise.all([1, 2, 3].map(() => createDataSource({ url: db.url, poolSize: 2 }).initialize()));

    await Promise.all([db.dataSource, ...others].map((each) => migrate(each)));

    const [applied] = await db.dataSource.query('SELECT count(*) AS count FROM migrations');
    expect(applied).toEqual({ count: db.dataSource.migrations.length });
    await Promise.all(others.map((other) => other.destroy()));
  });

  test('a second start changes nothing', async () => {
    const before = await db.dataSource.query(TABLES);
    await migrate(db.dataSource);

    expect(await db.dataSource.query(TABLES)).toEqual(before);
  });

  test('a database that is newer than the code is refused with both versions and what is unknown, and left as it is', async () => {
    await migrate(db.dataSource, '99.0.0');
    await db.dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (9999, 'AddMagic0000000009999')`);
    const before = await db.dataSource.query(TABLES);

    await expect(migrate(db.dataSource, '0.1.0')).rejects.toThrow(
      /migrated by Everdict 99\.0\.0 .* this one, 0\.1\.0, does not know \(AddMagic0000000009999\): run 99\.0\.0 or newer/,
    );
    expect(await db.dataSource.query(TABLES)).toEqual(before);
  });

  test.each([
    [14, '14.22 (Debian)', false],
    [15, '15.0', true],
    [18, '18.4', true],
  ])('Postgres %d is told by its version and accepted: %s', (major, version, isAccepted) => {
    const require = () => requirePostgres(major, version);
    if (isAccepted) expect(require).not.toThrow();
    else expect(require).toThrow(`is version ${version}, and 15 or newer is needed`);
  });
});
