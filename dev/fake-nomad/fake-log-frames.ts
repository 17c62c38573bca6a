import type { Piece } from './fake-log-files.js';

/** Bytes of output in one frame at most. */
const FRAME_BYTES = 64 * 1024;
const HEARTBEAT_MS = 1_000;

interface Frame {
  Data?: string;
  File: string;
  FileEvent?: string;
  Offset: number;
}

/** The bytes alone, as they come. */
export async function* plain(pieces: AsyncIterable<Piece>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) if (piece !== 'idle' && 'bytes' in piece) yield piece.bytes;
}

/**
 * Objects without anything between them. A frame takes what was read of one file until it is full or nothing more is
 * there, and names the place where its first read ended. `{}` while nothing happens.
 */
export async function* framed(pieces: AsyncIterable<Piece>): AsyncGenerator<Buffer> {
  let held: { file: string; at: number; bytes: Buffer } | undefined;
  let saidAt = Date.now();
  const flush = function* (): Generator<Buffer> {
    if (held) yield encoded({ Data: held.bytes.toString('base64'), File: held.file, Offset: held.at });
    if (held) saidAt = Date.now();
    held = undefined;
  };
  try {
    for await (const piece of pieces) {
      if (piece === 'idle') {
        yield* flush();
        if (Date.now() - saidAt < HEARTBEAT_MS) continue;
        saidAt = Date.now();
        yield Buffer.from('{}');
      } else if ('event' in piece) {
        yield* flush();
        yield encoded({ File: piece.file, FileEvent: piece.event, Offset: piece.at });
      } else if (held?.file === piece.file && held.bytes.length + piece.bytes.length <= FRAME_BYTES) {
        held.bytes = Buffer.concat([held.bytes, piece.bytes]);
      } else {
        yield* flush();
        held = { ...piece };
      }
    }
  } catch (error) {
    yield* flush();
    throw error;
  }
  yield* flush();
}

const encoded = (frame: Frame): Buffer => Buffer.from(JSON.stringify(frame));
