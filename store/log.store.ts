import type { DataSource } from 'typeorm';
import type { LogStream } from '../contracts/log-events.js';
import type { Outcome } from '../contracts/run.js';
import { GroupWriter } from './group-writer.js';
import { hasGap, LOG_PAGE, type LogOffsets, type LogPageRow, mergeStreams } from './log-page.js';
import { type Queryable, retrying, row, rows, transaction } from './sql.js';

export interface LogChunk {
  stream: LogStream;
  /** Offset of its first byte in what the job wrote. A gap between chunks is a cut. */
  at: number;
  bytes: Uint8Array;
}

/** Of an attempt: whether nothing more will be stored of it, the attempt after it, and how its run ended. */
export interface LogStanding {
  isOver: boolean;
  nextAttempt?: number;
  outcome?: Outcome;
}

interface Appended {
  runId: string;
  attempt: number;
  chunks: readonly LogChunk[];
}

/** Chunks before an offset of which one may reach beyond it: followers that overlap cut the output differently. */
const LOOK_BACK = 8;

export class LogStore {
  private readonly appends: GroupWriter<Appended, undefined>;

  constructor(private readonly dataSource: DataSource) {
    this.appends = new GroupWriter({
      keyOf: ({ runId, attempt }) => `${runId}/${attempt}`,
      bytesOf: ({ chunks }) => chunks.reduce((total, { bytes }) => total + bytes.length, 0),
      async write(group) {
        await retrying(() => insertChunks(dataSource, group));
        return group.map(() => undefined);
      },
    });
  }

  /** What is kept already stays, or grows. What many jobs print at the same time is stored together. */
  append(runId: string, attempt: number, chunks: readonly LogChunk[]): Promise<void> {
    return this.appends.submit({ runId, attempt, chunks });
  }

  /** What is kept of a stream becomes this, for everyone who reads it from now on. */
  async replace(runId: string, attempt: number, stream: LogStream, chunks: readonly LogChunk[]): Promise<void> {
    await transaction(this.dataSource, async (db) => {
      const params = [runId, attempt, stream];
      await rows(db, 'DELETE FROM log_chunks WHERE run_id = $1 AND attempt = $2 AND stream = $3', params);
      await insertChunks(db, [{ runId, attempt, chunks }]);
    });
  }

  /** Per stream, the offset after the last byte that is kept: where following goes on. */
  async kept(runId: string, attempt: number): Promise<Record<LogStream, number>> {
    const ends = await rows<{ stream: LogStream; end: number }>(
      this.dataSource,
      `SELECT stream, max(at + octet_length(bytes)) AS "end" FROM log_chunks
       WHERE run_id = $1 AND attempt = $2 GROUP BY stream`,
      [runId, attempt],
    );
    const kept = { stdout: 0, stderr: 0 };
    for (const { stream, end } of ends) kept[stream] = end;
    return kept;
  }

  /**
   * What follows these offsets, of the streams that have one: each stream by offset, both in the order in which they were
   * kept. A page of a bounded size; an empty one at the end. `isOver` says that nothing more will be stored.
   */
  async page(runId: string, attempt: number, from: LogOffsets, isOver: boolean): Promise<LogChunk[]> {
    const streams = Object.entries(from);
    const params = [runId, attempt, streams.map(([stream]) => stream), streams.map(([, at]) => at)];
    const page = mergeStreams(await rows<LogPageRow>(this.dataSource, LOG_PAGE, [...params, LOOK_BACK]), from);
    const isDoubtful = page.length > 0 ? hasGap(page, from) : isOver;
    if (!isDoubtful) return page;
    // A cut, or the end; or one long chunk that began far before holds what seems to be missing.
    return mergeStreams(await rows<LogPageRow>(this.dataSource, LOG_PAGE, [...params, null]), from);
  }

  /** What a follower of an attempt has to know: the outcome of its run, and whether more may be stored of it. */
  async standing(runId: string, attempt: number): Promise<LogStanding> {
    const found = await row<{ outcome: Outcome | null; is_open: boolean; next_attempt: number | null }>(
      this.dataSource,
      `SELECT outcome, coalesce(open_attempt = $2, false) AS is_open,
         (SELECT min(attempt) FROM attempts WHERE run_id = $1 AND attempt > $2) AS next_attempt
       FROM runs WHERE id = $1`,
      [runId, attempt],
    );
    return {
      isOver: !found?.is_open,
      ...(found?.outcome && { outcome: found.outcome }),
      ...(found?.next_attempt && { nextAttempt: found.next_attempt }),
    };
  }

  /** The end of what one stream holds, about so many bytes. */
  async tail(runId: string, attempt: number, stream: LogStream, size: number): Promise<Uint8Array> {
    const found = await rows<{ bytes: Buffer }>(
      this.dataSource,
      `SELECT substr(bytes, greatest(1, octet_length(bytes) - $4 + 1)) AS bytes FROM log_chunks
       WHERE run_id = $1 AND attempt = $2 AND stream = $3 ORDER BY at DESC LIMIT 8`,
      [runId, attempt, stream, size],
    );
    return Buffer.concat(found.reverse().map(({ bytes }) => bytes)).subarray(-size);
  }
}

/**
 * In the order of their keys, as another worker may be storing the same ones. Of two that begin at one offset the longer
 * is kept: its follower goes on behind it.
 */
async function insertChunks(db: Queryable, group: readonly Appended[]): Promise<void> {
  const all = group.flatMap(({ runId, attempt, chunks }) => chunks.map((chunk) => ({ runId, attempt, ...chunk })));
  await rows(
    db,
    `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes)
     SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bytea[])
       AS g(run_id, attempt, stream, at, bytes)
     ORDER BY run_id COLLATE "C", attempt, stream, at
     ON CONFLICT (run_id, attempt, stream, at) DO UPDATE SET bytes = EXCLUDED.bytes
     WHERE octet_length(EXCLUDED.bytes) > octet_length(log_chunks.bytes)`,
    [
      all.map(({ runId }) => runId),
      all.map(({ attempt }) => attempt),
      all.map(({ stream }) => stream),
      all.map(({ at }) => at),
      all.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    ],
  );
}
