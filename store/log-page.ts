import type { LogStream } from '../contracts/log-events.js';
import type { LogChunk } from './log.store.js';

/** Offsets of the streams that are read. */
export type LogOffsets = Partial<Record<LogStream, number>>;

/** Of each stream on one page: at most so many chunks, and no further one after so many bytes. */
const PAGE_CHUNKS = 64;
const PAGE_BYTES = 256 * 1_024;

/**
 * $5 chunks that begin before the offset are looked at for one that reaches beyond it, NULL for all. Sizes are compared
 * before bytes are fetched, so what lies beyond the page is never read.
 */
export const LOG_PAGE = `
  SELECT c.stream, c.at, c.bytes, (extract(epoch FROM c.written_at) * 1000000)::bigint AS written_us, c.found
  FROM unnest($3::text[], $4::bigint[]) AS wanted (stream, from_at)
  CROSS JOIN LATERAL (
    SELECT p.*, count(*) OVER () AS found, row_number() OVER (ORDER BY p.at) AS place,
      sum(octet_length(p.bytes)) OVER (ORDER BY p.at) - octet_length(p.bytes) AS bytes_before
    FROM (
      SELECT stream, at, bytes, written_at FROM log_chunks
      WHERE run_id = $1 AND attempt = $2 AND stream = wanted.stream AND at + octet_length(bytes) > wanted.from_at
        AND at >= coalesce((
          SELECT min(at) FROM (
            SELECT at FROM log_chunks
            WHERE run_id = $1 AND attempt = $2 AND stream = wanted.stream AND at <= wanted.from_at
            ORDER BY at DESC LIMIT $5) AS earlier), 0)
      ORDER BY at LIMIT ${PAGE_CHUNKS + 1}
    ) AS p
  ) AS c
  WHERE c.place <= ${PAGE_CHUNKS} AND c.bytes_before < ${PAGE_BYTES}
  ORDER BY c.stream, c.at`;

export interface LogPageRow {
  stream: LogStream;
  at: number;
  bytes: Buffer;
  /** Epoch µs. */
  written_us: number;
  /** Chunks of the stream that could be read, more than were if the page ended before them. */
  found: number;
}

/**
 * Puts the streams together in the order in which they were kept. Ends where one stream has more than its page holds,
 * since what comes next may be of that one.
 */
export function mergeStreams(found: readonly LogPageRow[], from: LogOffsets): LogChunk[] {
  const stderr = found.filter(({ stream }) => stream === 'stderr');
  const stdout = found.filter(({ stream }) => stream === 'stdout');
  const isCutShort = { stderr: hasMore(stderr), stdout: hasMore(stdout) };
  const ends = { ...from };
  const merged: LogChunk[] = [];
  for (;;) {
    const [err, out] = [stderr[0], stdout[0]];
    if ((!err && isCutShort.stderr) || (!out && isCutShort.stdout)) return merged;
    const isErrNext = err && (!out || err.written_us <= out.written_us);
    const next = isErrNext ? stderr.shift() : stdout.shift();
    if (!next) return merged;
    const chunk = beyond(next, ends[next.stream] ?? 0);
    if (!chunk) continue;
    ends[next.stream] = chunk.at + chunk.bytes.length;
    merged.push(chunk);
  }
}

const hasMore = (page: readonly LogPageRow[]): boolean => (page[0]?.found ?? 0) > page.length;

/** Two followers may have cut the output differently: what a chunk repeats is left out. */
function beyond({ stream, at, bytes }: LogPageRow, end: number): LogChunk | undefined {
  const from = Math.max(at, end);
  return from < at + bytes.length ? { stream, at: from, bytes: bytes.subarray(from - at) } : undefined;
}

/** Whether some bytes between chunks, or before the first, are missing. */
export function hasGap(chunks: readonly LogChunk[], from: LogOffsets): boolean {
  const ends = { ...from };
  return chunks.some(({ stream, at, bytes }) => {
    const isBehind = at > (ends[stream] ?? 0);
    ends[stream] = at + bytes.length;
    return isBehind;
  });
}
