import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { PlatformError } from '../contracts/errors.js';

/** Where statements run: the pool, or one connection inside a transaction. */
export type Queryable = Pick<DataSource | QueryRunner, 'query'>;

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
export const UNIQUE_VIOLATION = '23505';

const TRANSACTION_TRIES = 20;
/** What ends a statement that takes longer than it may. */
const QUERY_CANCELED = '57014';
const UNAVAILABLE = /^(08...|57P0[1-5]|25P03|53300|ECONN.*|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** The last: of a connection that was lost between two statements of a transaction. */
const LOST_CONNECTION =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|query runner already released/i;

/** SQLSTATE or system code of a database error. */
export function sqlCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Name of the constraint that an error violates. */
export function violated(error: unknown): string | undefined {
  if (sqlCode(error) !== UNIQUE_VIOLATION) return undefined;
  const { constraint } = error as { constraint?: string };
  return constraint;
}

function translated(error: unknown): unknown {
  const code = sqlCode(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  if (code === QUERY_CANCELED) {
    const why = 'the database did not answer in the time that a statement may take (EVERDICT_STATEMENT_SEC)';
    return new PlatformError('STORE_TIMEOUT', why, {}, { cause: error });
  }
  if (!UNAVAILABLE.test(code) && !LOST_CONNECTION.test(message)) return error;
  return new PlatformError('STORE_UNAVAILABLE', 'the database does not answer', {}, { cause: error });
}

interface Reply<Row> {
  rows: Row[];
  affected: number;
}

async function run<Row>(db: Queryable, sql: string, params: unknown[]): Promise<Reply<Row>> {
  let raw: unknown;
  try {
    raw = await db.query(sql, params);
  } catch (error) {
    throw translated(error);
  }
  // UPDATE and DELETE answer with [rows, affected], everything else with rows.
  const list = raw as Row[] | [Row[], number];
  if (typeof list[1] === 'number') return { rows: list[0] as Row[], affected: list[1] };
  return { rows: list as Row[], affected: list.length };
}

/** Rows of a query, or of a RETURNING clause. */
export const rows = async <Row>(db: Queryable, sql: string, params: unknown[] = []): Promise<Row[]> =>
  (await run<Row>(db, sql, params)).rows;

/** The first row, if there is one. */
export const row = async <Row>(db: Queryable, sql: string, params: unknown[] = []): Promise<Row | undefined> =>
  (await rows<Row>(db, sql, params))[0];

/** Number of rows an UPDATE or DELETE changed, or a RETURNING clause gave. */
export const affected = async (db: Queryable, sql: string, params: unknown[] = []): Promise<number> =>
  (await run(db, sql, params)).affected;

const isRetryable = (error: unknown): boolean => [DEADLOCK, SERIALIZATION_FAILURE].includes(sqlCode(error) ?? '');

/** Runs `work` in one READ COMMITTED transaction, once, whatever happens; a throw rolls back. */
export async function transactionOnce<T>(dataSource: DataSource, work: (db: Queryable) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await rows(runner, 'BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(runner);
    await rows(runner, 'COMMIT');
    return result;
  } catch (error) {
    // A lost connection has rolled back already.
    await runner.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/** Runs `work` again where it fell victim to a deadlock, so it may hold no effects but those of its statements. */
export async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt === TRANSACTION_TRIES) throw error;
      await sleep(Math.random() * 10 * attempt);
    }
  }
}

/** One such transaction, which deadlocks run again, so `work` may hold no effects. */
export const transaction = <T>(dataSource: DataSource, work: (db: Queryable) => Promise<T>): Promise<T> =>
  retrying(() => transactionOnce(dataSource, work));

/** Well below the shortest silence after which a connection is given up. */
const AWAKE_MS = 500;

/** The same items; while one is waited for, the connection is used now and then. */
export async function* keptAwake<T>(db: Queryable, items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const all = inTurn(items);
  try {
    for (;;) {
      const next = all.next();
      while (!(await isWithin(AWAKE_MS, next))) await rows(db, 'SELECT 1');
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await all.return(undefined);
  }
}

async function* inTurn<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* items;
}

async function isWithin(ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([awaited.then(() => true), sleep(ms, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
