import { row, transactionOnce } from '../../../store/sql.js';
import { eventually } from '../../eventually.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('a connection that is lost between two statements of a transaction means that the database does not answer', async () => {
  const lost = transactionOnce(db.dataSource, async (connection) => {
    const own = await row<{ pid: number }>(connection, 'SELECT pg_backend_pid() AS pid');
    await db.dataSource.query('SELECT pg_terminate_backend($1)', [own?.pid]);
    await eventually('the loss is noticed', async () => Reflect.get(connection, 'isReleased') === true || undefined);
    await row(connection, 'SELECT 1');
  });
  await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});
