import type { Readable } from 'node:stream';
import { PlatformError } from '../../contracts/errors.js';

/** Longest time in which nothing of a body comes. */
const STALL_MS = 60_000;

/** Why a body did not come whole. */
export const incomplete = (why: string): PlatformError =>
  new PlatformError('UPLOAD_INCOMPLETE', `the upload is incomplete, nothing of it is kept: ${why}`);

/**
 * A body as it comes, as fast as it is taken: what is not taken yet waits at the client. What is left of it when the
 * caller has seen enough is thrown away, so that the client reads the answer.
 */
export async function* incoming(body: Readable, stallMs = STALL_MS): AsyncGenerator<Uint8Array> {
  // The connection outlives its body.
  const chunks: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const next = await withinStall(chunks.next(), stallMs);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    body.on('error', () => {});
    void Promise.resolve(chunks.return?.()).then(() => body.resume());
  }
}

async function withinStall<T>(chunk: Promise<T>, stallMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(incomplete(`nothing came for ${stallMs / 1_000} s`)), stallMs);
  });
  try {
    return await Promise.race([chunk, stalled]);
  } catch (error) {
    throw error instanceof PlatformError ? error : incomplete('the client closed the connection');
  } finally {
    clearTimeout(timer);
  }
}
