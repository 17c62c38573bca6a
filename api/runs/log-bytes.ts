import type { LogChunk, LogStore, LogStream } from '../../store/log.store.js';

/** Chunks of one read from the store. */
const PAGE = 64;
/** More chunks than a kept log of two streams can have. */
const ALL = 1_000_000;

/** One stream from an offset up to another, a page of chunks at a time. */
export async function* streamChunks(
  logs: Pick<LogStore, 'read'>,
  { runId, attempt }: { runId: string; attempt: number },
  stream: LogStream,
  from: number,
  to: number,
): AsyncGenerator<LogChunk> {
  for (let at = from; at < to; ) {
    const page = await logs.read(runId, attempt, stream, at, PAGE);
    if (page.length === 0) return;
    yield* page;
    at = page.reduce((end, chunk) => Math.max(end, chunk.at + chunk.bytes.length), at + 1);
  }
}

/** Both streams, in the order in which they were kept. */
export async function* mergedChunks(
  logs: Pick<LogStore, 'read'>,
  { runId, attempt }: { runId: string; attempt: number },
): AsyncGenerator<LogChunk> {
  yield* await logs.read(runId, attempt, undefined, 0, ALL);
}

/** The bytes of chunks; where some were cut, `marksCuts` says how many in a line of its own. */
export async function* bytesOf(
  chunks: AsyncIterable<LogChunk>,
  from: number,
  marksCuts: boolean,
): AsyncGenerator<Uint8Array> {
  const end = { stdout: from, stderr: from };
  for await (const { stream, at, bytes } of chunks) {
    if (marksCuts && at > end[stream]) yield Buffer.from(`\n[${at - end[stream]} bytes of ${stream} cut]\n`);
    end[stream] = at + bytes.length;
    yield bytes;
  }
}
