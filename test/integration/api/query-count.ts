import type { DataSource } from 'typeorm';

/** Counts what is asked of a database, until it is stopped. */
export function countQueries(dataSource: DataSource): { count(): number; stop(): void } {
  const { query } = dataSource;
  let asked = 0;
  dataSource.query = <Rows>(...args: Parameters<typeof query>): Promise<Rows> => {
    asked += 1;
    return query.call(dataSource, ...args) as Promise<Rows>;
  };
  return {
    count: () => asked,
    stop: () => {
      dataSource.query = query;
    },
  };
}
