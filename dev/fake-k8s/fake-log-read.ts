import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerLog, LogEntry } from './fake-log.js';

export interface LogWish {
  isFollowed: boolean;
  hasTimes: boolean;
  /** RFC 3339: what is older is left out. */
  since?: string;
  /** Entries, from the end of the current file. */
  tail?: number;
  limitBytes?: number;
}

/** What goes wrong with a read after so many bytes. */
export interface LogFault {
  /** It is silent for ever, ends as if that were all, or breaks off. */
  how: 'hang' | 'end' | 'drop';
  afterBytes: number;
}

/** How fast a read goes. */
export interface LogPace {
  bytesPerSec?: number;
  /** Before the first byte. */
  delayMs?: number;
}

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The bytes of a log as they are answered. What is followed ends with its container, or when nobody reads it any more. */
export async function* readLog(log: ContainerLog, wish: LogWish, gone: AbortSignal): AsyncGenerator<Buffer> {
  let place = placeOf(log, wish);
  let isNewLine = true;
  let left = wish.limitBytes ?? Number.POSITIVE_INFINITY;
  while (!gone.aborted) {
    const pieces: Buffer[] = [];
    let size = 0;
    for (let entry = place.next; entry && size < PIECE_BYTES; entry = entry.next) {
      place = entry;
      if (wish.since !== undefined && entry.at < wish.since) continue;
      if (wish.hasTimes && isNewLine) pieces.push(Buffer.from(`${entry.at} `));
      pieces.push(entry.bytes);
      size += entry.bytes.length;
      isNewLine = entry.bytes.at(-1) === NEWLINE;
    }
    const bytes = Buffer.concat(pieces).subarray(0, left);
    left -= bytes.length;
    if (bytes.length > 0) yield bytes;
    if (left === 0) return;
    if (place.next) continue;
    if (!wish.isFollowed || log.isEnded) return;
    await log.more(gone);
  }
}

function placeOf({ start }: ContainerLog, { tail }: LogWish): LogEntry {
  if (tail === undefined) return start;
  const kept: LogEntry[] = [];
  for (let entry: LogEntry | undefined = start; entry; entry = entry.next) {
    kept.push(entry);
    if (kept.length > tail + 1) kept.shift();
  }
  return kept[0] ?? start;
}

/** The same bytes, as a network and a script have them. */
export async function* troubled(
  bytes: AsyncIterable<Buffer>,
  { how, afterBytes }: LogFault,
  gone: AbortSignal,
): AsyncGenerator<Buffer> {
  let left = afterBytes;
  for await (const piece of bytes) {
    if (piece.length < left) {
      left -= piece.length;
      yield piece;
      continue;
    }
    yield piece.subarray(0, left);
    if (how === 'drop') throw new Error('the connection breaks off');
    if (how === 'hang') await sleep(LONG_MS, undefined, { signal: gone }).catch(() => undefined);
    return;
  }
}

export async function* paced(
  bytes: AsyncIterable<Buffer>,
  { bytesPerSec = Number.POSITIVE_INFINITY, delayMs = 0 }: LogPace,
  gone: AbortSignal,
): AsyncGenerator<Buffer> {
  const pause = (ms: number) => sleep(ms, undefined, { signal: gone }).catch(() => undefined);
  if (delayMs > 0) await pause(delayMs);
  for await (const piece of bytes) {
    yield piece;
    const ms = (piece.length / bytesPerSec) * 1_000;
    if (ms >= 1) await pause(ms);
  }
}

/** Longer than anybody listens. */
const LONG_MS = 2_147_483_647;
