const NEWLINE = 0x0a;

/** A line of a body, without its end. */
export interface Line {
  /** From 1. */
  number: number;
  bytes: number;
  /** The line itself, or of a longer one at least as much as was to be kept. */
  content: Buffer;
}

/** The lines that are not empty, of which no more is held than one line's first `keptBytes` and a chunk. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, keptBytes: number): AsyncGenerator<Line> {
  let number = 1;
  let bytes = 0;
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    for (let from = 0; ; number += 1) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (bytes < keptBytes && part.length > 0) parts.push(part);
      bytes += part.length;
      if (end < 0) break;
      from = end + 1;
      if (bytes === 0) continue;
      yield { number, bytes, content: Buffer.concat(parts) };
      parts = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield { number, bytes, content: Buffer.concat(parts) };
}
