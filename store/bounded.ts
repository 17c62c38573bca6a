import type { DataSource } from 'typeorm';
import { type Queryable, rows, transaction } from './sql.js';

/** Statements that may cost the platform little: one connection, one snapshot, nothing written, each given up after a while. */
export function boundedRead<T>(
  dataSource: DataSource,
  statementMs: number,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return transaction(dataSource, async (db) => {
    await rows(db, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await rows(db, `SET LOCAL statement_timeout = ${Math.round(statementMs)}`);
    return work(db);
  });
}
