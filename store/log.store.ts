import type { DataSource } from 'typeorm';
import { GroupWriter } from './group-writer.js';
import { retrying, rows } from './sql.js';

export type LogStream = 'stdout' | 'stderr';

export interface LogChunk {
  stream: LogStream;
  /** Offset of its first byte in what the job wrote. A gap between chunks is a cut. */
  at: number;
  bytes: Uint8Array;
}

interface ChunkRow {
  stream: LogStream;
  at: number;
  bytes: Buffer;
}

interface Appended {
  runId: string;
  attempt: number;
  chunks: readonly LogChunk[];
}

export class LogStore {
  private readonly appends: GroupWriter<Appended, undefined>;

  constructor(private readonly dataSource: DataSource) {
    this.appends = new GroupWriter({
      keyOf: ({ runId, attempt }) => `${runId}/${attempt}`,
      bytesOf: ({ chunks }) => chunks.reduce((total, { bytes }) => total + bytes.length, 0),
      write: (group) => insertChunks(dataSource, group),
    });
  }

  /** Chunks that are kept already stay as they are. What many jobs print at the same time is stored together. */
  append(runId: string, attempt: number, chunks: readonly LogChunk[]): Promise<void> {
    return this.appends.submit({ runId, attempt, chunks });
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
   * At most `limit` chunks with bytes at or after `fromAt`, of one stream by offset, or of both in the order they were
   * kept. Two followers may have cut the output differently: what a chunk repeats is left out.
   */
  async read(
    runId: string,
    attempt: number,
    stream: LogStream | undefined,
    fromAt: number,
    limit: number,
  ): Promise<LogChunk[]> {
    const order = stream ? 'at' : 'written_at, stream, at';
    const found = await rows<ChunkRow>(
      this.dataSource,
      `SELECT stream, at, bytes FROM log_chunks
       WHERE run_id = $1 AND attempt = $2 AND ($3::text IS NULL OR stream = $3) AND at + octet_length(bytes) > $4
       ORDER BY ${order} LIMIT $5`,
      [runId, attempt, stream ?? null, fromAt, limit],
    );
    return withoutOverlap(found, fromAt);
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

/** In the order of their keys, as another worker may be storing the same ones. */
async function insertChunks(dataSource: DataSource, group: readonly Appended[]): Promise<undefined[]> {
  const all = group.flatMap(({ runId, attempt, chunks }) => chunks.map((chunk) => ({ runId, attempt, ...chunk })));
  await retrying(() =>
    rows(
      dataSource,
      `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes)
       SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bytea[])
         AS g(run_id, attempt, stream, at, bytes)
       ORDER BY run_id COLLATE "C", attempt, stream, at ON CONFLICT DO NOTHING`,
      [
        all.map(({ runId }) => runId),
        all.map(({ attempt }) => attempt),
        all.map(({ stream }) => stream),
        all.map(({ at }) => at),
        all.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      ],
    ),
  );
  return group.map(() => undefined);
}

function withoutOverlap(found: readonly ChunkRow[], fromAt: number): LogChunk[] {
  const end = { stdout: fromAt, stderr: fromAt };
  return found.flatMap(({ stream, at, bytes }) => {
    const from = Math.max(at, end[stream]);
    if (from >= at + bytes.length) return [];
    end[stream] = at + bytes.length;
    return [{ stream, at: from, bytes: bytes.subarray(from - at) }];
  });
}
