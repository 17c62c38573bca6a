interface Entry {
  /** Nanoseconds since the epoch. */
  ns: bigint;
  bytes: Buffer;
}

export interface LogAsked {
  sinceTime?: string | null;
  tailLines?: number | undefined;
}

const NEWLINE = 0x0a;

/** The log of a container as a node keeps it: entries in one file, of which older ones are out of reach for new reads. */
export class KubeletLog {
  private readonly entries: Entry[] = [];
  private start = 0;
  /** All that was printed. */
  readonly printed: Buffer[] = [];

  constructor(private readonly entryBytes = 16 * 1_024) {}

  get length(): number {
    return this.entries.length;
  }

  /** Lines, the last of which may have no newline yet; a long one takes several entries. */
  print(text: string | Buffer, ns: bigint): void {
    const bytes = Buffer.from(text);
    this.printed.push(bytes);
    for (let at = 0; at < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, at);
      const isEnd = newline !== -1 && newline - at <= this.entryBytes;
      const end = isEnd ? newline + 1 : Math.min(bytes.length, at + this.entryBytes);
      this.entries.push({ ns, bytes: bytes.subarray(at, end) });
      at = end;
    }
  }

  rotate(): void {
    this.start = this.entries.length;
  }

  /** What a read that begins now is answered. */
  answer(asked: LogAsked = {}): Buffer {
    return this.from(this.first(asked), asked);
  }

  /** The first entry that such a read sees. */
  first({ tailLines }: LogAsked): number {
    return tailLines === undefined ? this.start : Math.max(this.start, this.entries.length - tailLines);
  }

  /** Entries from one on, of which the first begins a line for whoever reads. */
  from(first: number, { sinceTime }: LogAsked, isNewLine = true): Buffer {
    const since = sinceTime ? BigInt(Math.floor(Date.parse(sinceTime) / 1_000)) * 1_000_000_000n : 0n;
    const parts: Buffer[] = [];
    let begins = isNewLine;
    for (const { ns, bytes } of this.entries.slice(first)) {
      if (ns >= since) parts.push(...(begins ? [Buffer.from(`${stampOf(ns)} `)] : []), bytes);
      begins = bytes.at(-1) === NEWLINE;
    }
    return Buffer.concat(parts);
  }

  /** Whether what comes after so many entries begins a line. */
  isLineStart(first: number): boolean {
    return first === 0 || this.entries[first - 1]?.bytes.at(-1) === NEWLINE;
  }
}

const stampOf = (ns: bigint): string =>
  `${new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19)}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;
