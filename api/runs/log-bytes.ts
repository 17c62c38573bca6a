import { LogLines } from '../../contracts/log-lines.js';
import type { LogChunk, LogStore } from '../../store/log.store.js';
import type { LogOffsets } from '../../store/log-page.js';

export interface AttemptOf {
  runId: string;
  attempt: number;
}

/** Reads the streams from some offsets up to others, a page at a time; a running job may print on meanwhile. */
export async function* keptChunks(
  logs: Pick<LogStore, 'page'>,
  { runId, attempt }: AttemptOf,
  from: LogOffsets,
  to: LogOffsets,
): AsyncGenerator<LogChunk> {
  for (const at = { ...from }; ; ) {
    const page = await logs.page(runId, attempt, at, true);
    for (const { stream, at: start, bytes } of page) {
      const room = (to[stream] ?? 0) - start;
      at[stream] = start + bytes.length;
      if (room > 0) yield { stream, at: start, bytes: bytes.subarray(0, room) };
    }
    if (page.length === 0 || hasReached(at, to)) return;
  }
}

const hasReached = (at: LogOffsets, to: LogOffsets): boolean =>
  (at.stdout ?? 0) >= (to.stdout ?? 0) && (at.stderr ?? 0) >= (to.stderr ?? 0);

const LINE_END = Uint8Array.of(10);

/** The bytes of chunks, alone or as text to read: in lines that are of one stream, and with a line for what was cut. */
export async function* bytesOf(
  chunks: AsyncIterable<LogChunk>,
  from: LogOffsets,
  isText: boolean,
): AsyncGenerator<Uint8Array> {
  const end = { ...from };
  const lines = new LogLines();
  for await (const { stream, at, bytes } of chunks) {
    const cut = at - (end[stream] ?? 0);
    end[stream] = at + bytes.length;
    if (!isText) {
      yield bytes;
      continue;
    }
    if (cut > 0) {
      lines.endLine();
      yield Buffer.from(`\n[${cut} bytes of ${stream} cut]\n`);
    }
    const { endsLine, rest } = lines.add(stream, bytes);
    if (endsLine) yield LINE_END;
    yield rest;
  }
}
