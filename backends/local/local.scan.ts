import type { JobRecord } from '../../policy/record.js';
import { type PlainBytes, RecordScanner } from '../../policy/record-scanner.js';
import type { FileTail } from './local.tail.js';

/** A job's stdout, split into its output and its record; reading goes on after what was left out. */
export class ScannedTail {
  private scanner: RecordScanner;

  constructor(
    private readonly tail: FileTail,
    private readonly nonce: string,
    /** Offset up to which it was read. */
    private at: number,
  ) {
    this.scanner = new RecordScanner(nonce, at);
  }

  /** What the next piece holds, if there is one. */
  async next(): Promise<{ plain: PlainBytes[]; record?: JobRecord } | undefined> {
    const piece = await this.tail.next();
    if (!piece) return undefined;
    const before = piece.at > this.at ? this.end() : [];
    if (piece.at > this.at) this.scanner = new RecordScanner(this.nonce, piece.at);
    this.at = piece.at + piece.bytes.length;
    const { plain, record } = this.scanner.push(piece.bytes);
    return { plain: [...before, ...plain], record };
  }

  /** What was held back, once nothing more comes. */
  end(): PlainBytes[] {
    return this.scanner.end();
  }

  get fault() {
    return this.scanner.fault;
  }
}
