import type { DataSource } from 'typeorm';
import { affected, rows } from './sql.js';

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

export class LogStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Chunks that are kept already stay as they are. Returns how many were new. */
  append(runId: string, attempt: number, chunks: readonly LogChunk[]): Promise<number> {
    return affected(
      this.dataSource,
      `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes)
       SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[], $5::bytea[])
       ON CONFLICT DO NOTHING RETURNING 1`,
      [
        runId,
        attempt,
        chunks.map(({ stream }) => stream),
        chunks.map(({ at }) => at),
        chunks.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      ],
    );
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
