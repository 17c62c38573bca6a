import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import type { KeptBytes } from '../backend.js';
import { isSealed, openPlain } from './local.state.js';

const readAt = promisify(read);

/** Most jobs print little: the large buffer is for those that fill the small one. */
const SMALL_BYTES = 16 * 1_024;
const LARGE_BYTES = 256 * 1_024;
/** More than any result record takes, which is the last that is written. */
const RECORD_BYTES = 16 * 1_024 * 1_024;
/** Disk is given back in pieces of this size. */
const HOLE_BYTES = 64 * 1_024 * 1_024;

const KEEP_ALL: KeptBytes = { head: Number.POSITIVE_INFINITY, tail: 0 };

/**
 * Reads on in a file that a job is writing, in pieces: memory does not grow with the file. Where the job is far ahead,
 * what would not be kept anyway is left out, so a job that prints fast is neither slowed down nor read in vain.
 */
export class FileTail {
  private readonly fd: number;
  private piece = new Uint8Array();
  /** What was read of earlier contents: a job that writes `> /dev/stderr` empties the file. */
  private before = 0;
  private position: number;
  private holeEnd: number;
  /** Of the end of the file, what is never left out. */
  private readonly endBytes: number;

  constructor(
    path: string,
    from: number,
    private readonly keep = KEEP_ALL,
  ) {
    this.fd = openPlain(path);
    this.position = from;
    this.holeEnd = keep.head;
    this.endBytes = Math.max(RECORD_BYTES, keep.tail);
  }

  /** End of what the job has written until now. */
  get size(): number {
    return this.before + fstatSync(this.fd).size;
  }

  /** End of what was read. */
  get seen(): number {
    return this.before + this.position;
  }

  /** Whether the job was being stopped before now: what it printed may be an answer to that. */
  get isSealed(): boolean {
    return isSealed(this.fd);
  }

  /** Whether the beginning, all of which is kept, has been read. */
  get isPastHead(): boolean {
    return this.seen >= this.keep.head;
  }

  /** A part that was read and will not be needed again, by nobody who may go on with the job; each is given once. */
  takeHole(): { from: number; to: number } | undefined {
    const to = this.position - this.endBytes;
    // Nothing is given of a file that the job emptied: its offsets are not those of the stream.
    if (this.before > 0 || to - this.holeEnd < HOLE_BYTES) return undefined;
    const hole = { from: this.holeEnd, to };
    this.holeEnd = to;
    return hole;
  }

  /** The next piece, if there is one. Its bytes are valid until the next call. */
  async next(): Promise<{ at: number; bytes: Uint8Array } | undefined> {
    const { size } = fstatSync(this.fd);
    if (size < this.position) {
      this.before += this.position;
      this.position = 0;
    }
    if (size === this.position) return undefined;
    if (this.isPastHead && size - this.position > 2 * this.endBytes) this.position = size - this.endBytes;
    const room = size - this.position > SMALL_BYTES ? LARGE_BYTES : SMALL_BYTES;
    if (this.piece.length < room) this.piece = new Uint8Array(room);
    const { bytesRead } = await readAt(this.fd, this.piece, 0, this.piece.length, this.position);
    if (bytesRead === 0) return undefined;
    const at = this.before + this.position;
    this.position += bytesRead;
    return { at, bytes: this.piece.subarray(0, bytesRead) };
  }

  close(): void {
    closeSync(this.fd);
  }
}
