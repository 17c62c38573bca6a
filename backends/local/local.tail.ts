import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { openPlain } from './local.state.js';

const readAt = promisify(read);

/** Most jobs print little: the large buffer is for those that fill the small one. */
const SMALL_BYTES = 16 * 1_024;
const LARGE_BYTES = 256 * 1_024;

/** Reads on in a file that a job is writing, in pieces: memory does not grow with the file. */
export class FileTail {
  private readonly fd: number;
  private piece = new Uint8Array();
  /** What was read of earlier contents: a job that writes `> /dev/stderr` empties the file. */
  private before = 0;
  private position: number;

  constructor(path: string, from: number) {
    this.fd = openPlain(path);
    this.position = from;
  }

  /** End of what the job has written until now. */
  get size(): number {
    return this.before + fstatSync(this.fd).size;
  }

  /** End of what was read. */
  get seen(): number {
    return this.before + this.position;
  }

  /** The next piece, if there is one. Its bytes are valid until the next call. */
  async next(): Promise<{ at: number; bytes: Uint8Array } | undefined> {
    const { size } = fstatSync(this.fd);
    if (size < this.position) {
      this.before += this.position;
      this.position = 0;
    }
    if (size === this.position) return undefined;
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
