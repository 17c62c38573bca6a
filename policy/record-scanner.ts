import { type JobRecord, readRecord } from './record.js';

export interface PlainBytes {
  /** Offset of the first byte in what the job wrote. */
  at: number;
  bytes: Uint8Array;
}

const NEWLINE = 10;
/** A record line, its own newline included. */
const MOST_LINE_BYTES = 4_096;
/** Several times what the wrapper can print, so that a job that knows its nonce does not fill our memory. */
const MOST_LINES = 4_096;

/**
 * Splits a job's stdout into plain output and the lines of its record, in bounded memory whatever arrives. A line counts
 * only with the right nonce and up to 4,096 bytes; everything else is output, but for the newline before the record.
 * The first valid record stands, and all that follows it is output.
 */
export class RecordScanner {
  private readonly prefix: Uint8Array;
  private readonly shifts: Uint16Array;
  private held: Uint8Array = new Uint8Array();
  private lines: string[] = [];
  private isDone = false;
  private lastFault: string | undefined;

  /** @param from Offset at which the bytes to be pushed begin. */
  constructor(
    nonce: string,
    private from = 0,
  ) {
    this.prefix = new TextEncoder().encode(`__EVERDICT_RESULT__ ${nonce} `);
    this.shifts = shiftsOf(this.prefix);
  }

  /**
   * Takes the next bytes; answers with the output among what is decided now, and the record once it is whole. The output
   * may share its memory with the bytes.
   */
  push(chunk: Uint8Array): { plain: PlainBytes[]; record?: JobRecord } {
    const bytes = joined(this.held, chunk);
    const plain: PlainBytes[] = [];
    let record: JobRecord | undefined;
    let start = 0;
    let line = this.find(bytes, 0);
    while (line >= 0) {
      const end = lineEnd(bytes, line);
      if (end === 'undecided') break;
      if (end === 'plain') {
        line = this.find(bytes, line + 1);
        continue;
      }
      const text = new TextDecoder().decode(bytes.subarray(line + this.prefix.length, end));
      const isOpening = text.startsWith('version ') && line > start && bytes[line - 1] === NEWLINE;
      this.take(plain, bytes, start, isOpening ? line - 1 : line);
      record ??= this.addLine(text);
      start = end + 1;
      line = this.find(bytes, start);
    }
    const decided = this.isDone ? bytes.length : this.undecidedFrom(bytes, start, line);
    this.take(plain, bytes, start, decided);
    // A copy also of a Buffer, whose own `slice` is a view of memory that its owner may use again.
    this.held = Uint8Array.from(bytes.subarray(decided));
    this.from += decided;
    return { plain, record };
  }

  /** Why the last lines with the right nonce made no record; absent if there were none. */
  get fault(): string | undefined {
    return this.lines.length > 0 ? 'it has no `end` line' : this.lastFault;
  }

  /** What was held back, once nothing more comes. */
  end(): PlainBytes[] {
    const plain: PlainBytes[] = [];
    this.take(plain, this.held, 0, this.held.length);
    this.from += this.held.length;
    this.held = new Uint8Array();
    return plain;
  }

  private take(plain: PlainBytes[], bytes: Uint8Array, start: number, end: number): void {
    if (end > start) plain.push({ at: this.from + start, bytes: bytes.subarray(start, end) });
  }

  /** A record that began and was not finished gives way to the next: a log may be read again from an earlier point. */
  private addLine(line: string): JobRecord | undefined {
    if (line.startsWith('version ')) this.lines = [];
    if (this.lines.length < MOST_LINES) this.lines.push(line);
    if (!line.startsWith('end ')) return undefined;
    const record = readRecord(this.lines);
    this.lines = [];
    if (typeof record === 'string') {
      this.lastFault = record;
      return undefined;
    }
    this.isDone = true;
    return record;
  }

  /** Where the prefix begins next, or -1. Looks at one byte in as many as the prefix has (Horspool). */
  private find(bytes: Uint8Array, start: number): number {
    const { prefix, shifts, isDone } = this;
    const last = prefix.length - 1;
    for (let at = isDone ? bytes.length : start + last; at < bytes.length; at += shifts[bytes[at] ?? 0] ?? 1) {
      if (bytes[at] === prefix[last] && canBegin(bytes, at - last, prefix)) return at - last;
    }
    return -1;
  }

  /** Where the end begins that more bytes may turn into a record line, or into the newline before one. */
  private undecidedFrom(bytes: Uint8Array, start: number, line: number): number {
    let at = line;
    if (at < 0) {
      at = Math.max(start, bytes.length - this.prefix.length + 1);
      while (at < bytes.length && !canBegin(bytes, at, this.prefix)) at += 1;
    }
    return at > start && bytes[at - 1] === NEWLINE ? at - 1 : at;
  }
}

/** Where the record line that begins here ends, if it is one. */
function lineEnd(bytes: Uint8Array, line: number): number | 'plain' | 'undecided' {
  const end = bytes.subarray(line, line + MOST_LINE_BYTES).indexOf(NEWLINE);
  if (end >= 0) return line + end;
  return bytes.length - line < MOST_LINE_BYTES ? 'undecided' : 'plain';
}

/** Whether the bytes from `at` are the prefix, as far as they go. */
function canBegin(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  const length = Math.min(prefix.length, bytes.length - at);
  for (let i = 0; i < length; i += 1) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

/** By the byte below its end, how far the prefix can move on without missing a place where it begins. */
function shiftsOf(prefix: Uint8Array): Uint16Array {
  const last = prefix.length - 1;
  const shifts = new Uint16Array(256).fill(prefix.length);
  for (const [at, byte] of prefix.subarray(0, last).entries()) shifts[byte] = last - at;
  return shifts;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (head.length === 0) return tail;
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
