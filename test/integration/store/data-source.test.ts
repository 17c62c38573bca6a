import { createDataSource, migrate } from '../../../store/data-source.js';
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

    await Promise.all([db.dataSource, ...others].map(migrate));

    const [applied] = await db.dataSource.query('SELECT count(*) AS count FROM migrations');
    expect(applied).toEqual({ count: db.dataSource.migrations.length });
    await Promise.all(others.map((other) => other.destroy()));
  });

  test('a second start changes nothing', async () => {
    const before = await db.dataSource.query(TABLES);
    await migrate(db.dataSource);

    expect(await db.dataSource.query(TABLES)).toEqual(before);
  });

  test('a database that is newer than the code is refused by the names it does not know', async () => {
    await db.dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (9999, 'AddMagic0000000009999')`);

    await expect(migrate(db.dataSource)).rejects.toThrow('AddMagic0000000009999');
  });
});
