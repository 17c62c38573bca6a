/** Is told what an answer with timestamps holds, in order. */
export interface LineSink {
  /** A line begins, printed then. False: no more is wanted. */
  line(stamp: string): boolean;
  /** More of it, with the newline that ends it. */
  text(bytes: Buffer): void;
}

export interface LineOptions {
  /** The first line may be the rest of one of which the beginning was not asked for. */
  isCutBefore: boolean;
  /** A fault may end the answer anywhere, in the middle of a line too. */
  isFollow: boolean;
}

const NEWLINE = 0x0a;
const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) /;
const STAMP_BYTES = 36;
const PART_OF_STAMP = /^\d[\dT:.Z+-]*$/;
/** How what a node says of its own begins, where a log was asked for. */
const FAULT = /(?:unable to retrieve container logs for |failed to [a-z]+ |rpc error: code = )/;
const FAULT_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/**
 * Takes the timestamps out of an answer: one stands before each line, and none within it, however long it is. What has
 * none where one is due was not printed by the container: a node says so why it reads no further.
 */
export class StampedLines {
  private where: 'start' | 'line' | 'fault' = 'start';
  /** What cannot be told before more of it is there. */
  private rest: Buffer = NOTHING;
  private isFirst: boolean;
  private said: string | undefined;

  constructor(
    private readonly sink: LineSink,
    private readonly options: LineOptions,
  ) {
    this.isFirst = options.isCutBefore;
  }

  /** What the node said in place of lines, last. Absent: nothing. */
  get fault(): string | undefined {
    return this.said;
  }

  /** False if no more is wanted. */
  push(piece: Buffer): boolean {
    const data = this.rest.length > 0 ? Buffer.concat([this.rest, piece]) : piece;
    this.rest = NOTHING;
    let from = 0;
    while (from < data.length) {
      if (this.where === 'start') {
        const stamp = stampAt(data, from);
        if (stamp === '') {
          this.rest = data.subarray(from);
          return true;
        }
        if (!this.begin(stamp)) return false;
        from += stamp === undefined ? 0 : stamp.length + 1;
        continue;
      }
      const newline = data.indexOf(NEWLINE, from);
      this.take(data.subarray(from, newline === -1 ? data.length : newline + 1), newline !== -1);
      from = newline === -1 ? data.length : newline + 1;
    }
    return true;
  }

  /** Nothing more comes. */
  end(): void {
    const { rest } = this;
    this.rest = NOTHING;
    if (this.where === 'line' && !this.options.isFollow) this.sink.text(rest);
    else if (this.where === 'line' && rest.length > 0) this.said = rest.toString('latin1');
    this.forgetBeginning();
  }

  private begin(stamp: string | undefined): boolean {
    if (stamp === undefined) {
      this.where = 'fault';
      this.said = '';
      return true;
    }
    this.where = 'line';
    this.forgetBeginning();
    return this.sink.line(stamp);
  }

  private take(bytes: Buffer, isWhole: boolean): void {
    if (this.where === 'fault')
      this.said = `${this.said}${bytes.toString('latin1', 0, FAULT_BYTES)}`.slice(0, FAULT_BYTES);
    else this.sink.text(isWhole || !this.options.isFollow ? bytes : this.withoutFault(bytes));
    if (isWhole) this.where = 'start';
  }

  /** Of an unfinished line: what may be the beginning of a fault waits for more, or for another reading. */
  private withoutFault(bytes: Buffer): Buffer {
    const begin = Math.max(0, bytes.length - FAULT_BYTES);
    const at = bytes.toString('latin1', begin).search(FAULT);
    if (at === -1) return bytes;
    this.rest = bytes.subarray(begin + at);
    return bytes.subarray(0, begin + at);
  }

  /** What the first line is the rest of is none of a node's words. */
  private forgetBeginning(): void {
    if (this.isFirst && this.said !== undefined && !FAULT.test(this.said)) this.said = undefined;
    this.isFirst = false;
  }
}

/** The timestamp that begins there; nothing if none does, and an empty one if that cannot be told yet. */
function stampAt(data: Buffer, from: number): string | undefined {
  const head = data.toString('latin1', from, from + STAMP_BYTES);
  const stamp = STAMP.exec(head)?.[1];
  if (stamp !== undefined) return stamp;
  return head.length < STAMP_BYTES && PART_OF_STAMP.test(head) ? '' : undefined;
}
