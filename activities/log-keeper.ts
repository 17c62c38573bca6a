import type { KeptBytes, LogStream } from '../backends/backend.js';
import type { PlainBytes } from '../policy/record-scanner.js';
import { MaskedStream, type SecretMask } from '../policy/redact.js';
import type { LogChunk, LogStore } from '../store/log.store.js';
import { TailRing } from './tail-ring.js';

/** A piece this large is stored at once; smaller ones are collected for a while. */
const CHUNK_BYTES = 64 * 1_024;
const COLLECT_MS = 500;
/** Of what is kept of a stream, this part is its beginning. */
const HEAD_SHARE = 0.8;
/** Most of one row. */
const TAIL_CHUNK_BYTES = 512 * 1_024;

/** What is kept of a stream of which at most so much is. */
export function keptBytes(limitBytes: number): KeptBytes {
  const head = Math.floor(limitBytes * HEAD_SHARE);
  return { head, tail: limitBytes - head };
}

interface Target {
  logs: Pick<LogStore, 'append' | 'replace'>;
  runId: string;
  attempt: number;
  /** What is kept of each stream. */
  limitBytes: number;
  /** Hides the secrets of the job. */
  mask: SecretMask;
}

/**
 * Stores what a job prints: its beginning while it runs, its last part at the end. What lies between is cut, which
 * shows as a gap between offsets. Takes memory for one chunk and the last part, however much is printed. What may be the
 * beginning of a secret waits for what follows.
 */
export class LogKeeper {
  private readonly streams: Record<LogStream, StreamKeeper>;
  private readonly masked: Record<LogStream, MaskedStream>;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly target: Target) {
    const keep = keptBytes(target.limitBytes);
    this.streams = { stdout: new StreamKeeper('stdout', keep), stderr: new StreamKeeper('stderr', keep) };
    this.masked = { stdout: new MaskedStream(target.mask), stderr: new MaskedStream(target.mask) };
  }

  /** Copies the bytes. Waits for the store when a chunk is full, which slows the reader down to its pace. */
  async take(stream: LogStream, at: number, bytes: Uint8Array): Promise<void> {
    const keeper = this.streams[stream];
    for (const piece of this.masked[stream].push(at, bytes)) keeper.take(piece.at, piece.bytes);
    if (keeper.pendingBytes >= CHUNK_BYTES) await this.flush();
    else if (keeper.pendingBytes > 0) this.timer ??= setTimeout(() => this.flushLater(), COLLECT_MS);
  }

  /** Stores what is collected, and no last part: following may go on. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.write((keeper) => keeper.drain());
  }

  /** Stores everything; nothing may follow. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      for (const piece of this.masked[stream].end()) this.streams[stream].take(piece.at, piece.bytes);
    }
    await this.flush();
    await this.write((keeper) => keeper.drainTail());
  }

  /** Stores this in place of all that was taken of a stream. */
  async correct(stream: LogStream, pieces: readonly PlainBytes[]): Promise<void> {
    const { logs, runId, attempt, limitBytes, mask } = this.target;
    const masked = new MaskedStream(mask);
    const keeper = new StreamKeeper(stream, keptBytes(limitBytes));
    this.masked[stream] = masked;
    this.streams[stream] = keeper;
    for (const { at, bytes } of pieces) for (const piece of masked.push(at, bytes)) keeper.take(piece.at, piece.bytes);
    for (const piece of masked.end()) keeper.take(piece.at, piece.bytes);
    const chunks = [...keeper.drain(), ...keeper.drainTail()];
    this.writing = this.writing.then(() => logs.replace(runId, attempt, stream, chunks));
    await this.writing;
  }

  private flushLater(): void {
    // Its failure is met by the next write, which waits for this one.
    this.flush().catch(() => undefined);
  }

  private async write(pick: (keeper: StreamKeeper) => LogChunk[]): Promise<void> {
    const { logs, runId, attempt } = this.target;
    this.writing = this.writing.then(async () => {
      const chunks = Object.values(this.streams).flatMap(pick);
      if (chunks.length > 0) await logs.append(runId, attempt, chunks);
    });
    await this.writing;
  }
}

/** One stream: what waits to be stored, and its last part once the beginning is full. */
class StreamKeeper {
  private pending: { at: number; pieces: Buffer[]; bytes: number }[] = [];
  private tail: TailRing | undefined;
  pendingBytes = 0;

  constructor(
    private readonly stream: LogStream,
    private readonly keep: KeptBytes,
  ) {}

  take(at: number, bytes: Uint8Array): void {
    const room = Math.max(0, this.keep.head - at);
    if (room > 0) this.hold(at, Buffer.from(bytes.subarray(0, room)));
    if (bytes.length > room) {
      this.tail ??= new TailRing(this.keep.tail);
      this.tail.push(at + room, bytes.subarray(room));
    }
  }

  drain(): LogChunk[] {
    const chunks = this.pending.map(({ at, pieces }) => ({ stream: this.stream, at, bytes: Buffer.concat(pieces) }));
    this.pending = [];
    this.pendingBytes = 0;
    return chunks;
  }

  drainTail(): LogChunk[] {
    const { tail, stream } = this;
    this.tail = undefined;
    if (!tail) return [];
    const { at, bytes } = tail.contents();
    const chunks: LogChunk[] = [];
    for (let start = 0; start < bytes.length; start += TAIL_CHUNK_BYTES) {
      chunks.push({ stream, at: at + start, bytes: bytes.subarray(start, start + TAIL_CHUNK_BYTES) });
    }
    return chunks;
  }

  /** What follows a gap is a chunk of its own. */
  private hold(at: number, head: Buffer): void {
    const last = this.pending.at(-1);
    if (last && last.at + last.bytes === at) {
      last.pieces.push(head);
      last.bytes += head.length;
    } else {
      this.pending.push({ at, pieces: [head], bytes: head.length });
    }
    this.pendingBytes += head.length;
  }
}
