import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogStream } from './fake-task-logs.js';

/** Why files are not read, as it is answered. */
export class FileRefusal extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text);
  }
}

export interface LogWish {
  task: string;
  stream: LogStream;
  offset: number;
  origin: 'start' | 'end';
  isFollowed: boolean;
}

/** What was read of a file, or what happened to it, or that nothing did. `at`: where in the file one is after it. */
export type Piece = { file: string; at: number; bytes: Buffer } | { file: string; at: number; event: string } | 'idle';

interface LogFile {
  name: string;
  index: number;
  size: number;
}

interface Place {
  file: LogFile;
  at: number;
}

/** How far one read goes, so that a frame may be made of two. */
const READ_BYTES = 32 * 1024;
const POLL_MS = 50;

/** The kept files of one stream, oldest first. */
function listed(logs: string, { task, stream }: LogWish): LogFile[] {
  const prefix = `${task}.${stream}.`;
  let names: string[];
  try {
    names = readdirSync(logs);
  } catch {
    throw new FileRefusal(500, `failed to list entries: open ${logs}: no such file or directory`);
  }
  const files = names.flatMap((name) => {
    const size = name.startsWith(prefix) ? sizeOf(join(logs, name)) : undefined;
    return size === undefined ? [] : [{ name, index: Number(name.slice(prefix.length)), size }];
  });
  const missing = `log entry for task ${JSON.stringify(task)} and log type ${JSON.stringify(stream)} not found`;
  if (files.length === 0) throw new FileRefusal(404, missing);
  return files.sort((a, b) => a.index - b.index);
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Where a read begins. Offsets count from the oldest kept file, or backwards from the end of the newest. */
function placeOf(files: readonly LogFile[], { offset, origin }: LogWish): Place | undefined {
  let position = origin === 'end' ? files.length - 1 : 0;
  let at = origin === 'end' ? -offset : offset;
  for (;;) {
    const file = files[position];
    if (!file) return undefined;
    if (at < 0) {
      at += file.size;
      if (at >= 0) return { file, at };
      if (position === 0) return { file, at: 0 };
      position -= 1;
    } else if (at <= file.size) {
      return { file, at };
    } else if (position === files.length - 1) {
      return { file, at: file.size };
    } else {
      at -= file.size;
      position += 1;
    }
  }
}

/**
 * Throws at once where nothing can be read, and later where that happens in the middle. A file that is rotated away
 * meanwhile is passed over, and nothing says so. What is followed never ends.
 */
export function read(logs: string, wish: LogWish): (gone: AbortSignal) => AsyncGenerator<Piece> {
  const first = placeOf(listed(logs, wish), wish);
  return (gone) => pieces(logs, wish, first, gone);
}

async function* pieces(
  logs: string,
  wish: LogWish,
  first: Place | undefined,
  gone: AbortSignal,
): AsyncGenerator<Piece> {
  for (let place = first; place && !gone.aborted; ) {
    const { index, name } = place.file;
    const isLast = listed(logs, wish).every((other) => other.index <= index);
    yield* ofFile(
      join(logs, name),
      place.at,
      wish.isFollowed ? () => isFollowedBy(logs, wish, index) : undefined,
      gone,
    );
    if (isLast && !wish.isFollowed) return;
    const rest = listed(logs, wish);
    const next = rest.find((other) => other.index > index) ?? rest.at(-1);
    place = next && { file: next, at: 0 };
  }
}

function isFollowedBy(logs: string, wish: LogWish, index: number): boolean {
  try {
    return listed(logs, wish).some((other) => other.index > index);
  } catch {
    return false;
  }
}

/** Until its end, or, where it is followed, until there is a next one or it is removed. */
async function* ofFile(
  path: string,
  from: number,
  hasNext: (() => boolean) | undefined,
  gone: AbortSignal,
): AsyncGenerator<Piece> {
  const fd = opened(path);
  if (fd === undefined) return;
  const file = `alloc/logs/${path.slice(path.lastIndexOf('/') + 1)}`;
  let at = from;
  try {
    while (!gone.aborted) {
      const isEnding = !hasNext || hasNext();
      const bytes = Buffer.alloc(READ_BYTES);
      for (let length = readSync(fd, bytes, 0, READ_BYTES, at); length > 0; ) {
        at += length;
        yield { file, at, bytes: Buffer.from(bytes.subarray(0, length)) };
        length = readSync(fd, bytes, 0, READ_BYTES, at);
      }
      if (isEnding) return;
      if (sizeOf(path) === undefined) {
        yield { file, at, event: 'file deleted' };
        return;
      }
      if (fstatSync(fd).size < at) {
        at = 0;
        yield { file, at, event: 'file truncated' };
      } else {
        yield 'idle';
        await sleep(POLL_MS, undefined, { signal: gone }).catch(() => undefined);
      }
    }
  } finally {
    closeSync(fd);
  }
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}
