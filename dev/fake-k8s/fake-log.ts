import { once } from 'node:events';

/** One line of the file that a container runtime writes, or, where it is partial, a piece of one. */
export interface LogEntry {
  /** RFC 3339 in nanoseconds. */
  at: string;
  /** With the newline, unless it is partial. */
  bytes: Buffer;
  next?: LogEntry;
}

export type LogStream = 'stdout' | 'stderr';

/** Of one entry at most, newline excluded. */
const MOST_BYTES = 16 * 1024;
/** Of what a file holds of an entry besides its bytes: time, stream, tag. */
const OVERHEAD_BYTES = 46;
const NEWLINE = 0x0a;

/**
 * What a container has written, as a chain of entries. A new read sees those since the last rotation; one that is going
 * on holds the entry it has come to, and goes on from there.
 */
export class ContainerLog {
  /** What comes after it is in the current file. */
  start: LogEntry = { at: '', bytes: Buffer.alloc(0) };
  isEnded = false;
  private last = this.start;
  private size = 0;
  private stampedAt = 0n;
  private readonly unended = new Map<LogStream, Buffer>();
  private readonly changes = new EventTarget();

  constructor(private readonly rotateBytes: number) {}

  append(stream: LogStream, bytes: Buffer): void {
    const earlier = this.unended.get(stream);
    let rest = earlier ? Buffer.concat([earlier, bytes]) : bytes;
    for (;;) {
      const newline = rest.indexOf(NEWLINE);
      const length = newline >= 0 && newline <= MOST_BYTES ? newline + 1 : MOST_BYTES;
      if (newline < 0 ? rest.length <= MOST_BYTES : rest.length < length) break;
      this.add(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    this.unended.set(stream, Buffer.from(rest));
    this.changes.dispatchEvent(new Event('change'));
  }

  /** Nothing comes any more: what had no newline yet is an entry without one. */
  end(): void {
    for (const rest of this.unended.values()) if (rest.length > 0) this.add(rest);
    this.unended.clear();
    this.isEnded = true;
    this.changes.dispatchEvent(new Event('change'));
  }

  /** A new read sees nothing of what there was. */
  rotate(): void {
    this.start = this.last;
    this.size = 0;
  }

  /** Until there is more, it has ended, or nobody waits any more. */
  async more(signal: AbortSignal): Promise<void> {
    await once(this.changes, 'change', { signal }).catch(() => undefined);
  }

  private add(bytes: Buffer): void {
    if (this.size >= this.rotateBytes) this.rotate();
    const entry: LogEntry = { at: this.stamp(), bytes: Buffer.from(bytes) };
    this.last.next = entry;
    this.last = entry;
    this.size += bytes.length + OVERHEAD_BYTES;
  }

  /** Later than every one before. */
  private stamp(): string {
    const now = BigInt(Date.now()) * 1_000_000n;
    this.stampedAt = now > this.stampedAt ? now : this.stampedAt + 1_000n;
    const seconds = new Date(Number(this.stampedAt / 1_000_000n)).toISOString().slice(0, 19);
    return `${seconds}.${String(this.stampedAt % 1_000_000_000n).padStart(9, '0')}Z`;
  }
}
