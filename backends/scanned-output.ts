import type { JobRecord } from '../policy/record.js';
import { type PlainBytes, RecordScanner } from '../policy/record-scanner.js';
import type { AllocationEvent } from './backend.js';

/** A job's stdout, split into its output and its record; pieces come in order, and some may have been left out. */
export class ScannedOutput {
  private scanner: RecordScanner;

  constructor(
    private readonly nonce: string,
    /** Offset up to which it was read. */
    private at: number,
  ) {
    this.scanner = new RecordScanner(nonce, at);
  }

  /** What the next piece holds. */
  take(piece: PlainBytes): { plain: PlainBytes[]; record?: JobRecord } {
    const before = piece.at > this.at ? this.end() : [];
    if (piece.at > this.at) this.scanner = new RecordScanner(this.nonce, piece.at);
    this.at = piece.at + piece.bytes.length;
    const { plain, record } = this.scanner.push(piece.bytes);
    return { plain: [...before, ...plain], ...(record && { record }) };
  }

  /** What was held back, once nothing more comes. */
  end(): PlainBytes[] {
    return this.scanner.end();
  }

  /** Why what looked like a record was none; absent if nothing did. */
  get fault(): string | undefined {
    return this.scanner.fault;
  }
}

export function* logged(plain: readonly PlainBytes[]): Generator<AllocationEvent> {
  for (const { at, bytes } of plain) yield { kind: 'log', stream: 'stdout', at, bytes };
}
