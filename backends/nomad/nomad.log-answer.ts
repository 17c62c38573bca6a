import type { LogFrame } from './nomad.frames.js';
import { type LogFiles, logFileIndex } from './nomad.rotation.js';

/** More waits for the next call: memory does not grow with a log. */
const MOST_BYTES = 2 * 1_024 * 1_024;
/** How far on in its file a frame may say that it was read: what Nomad reads at once, and some. */
const NEAR_BYTES = 128 * 1_024;
/** What was read last, by which an answer is recognized as going on there. */
const LAST_BYTES = 16;

/** Where reading is: offsets in what the job wrote. */
export interface LogPlace {
  position: number;
  /** The bytes before it, a few. */
  last: Uint8Array;
}

/** What is asked for: from a byte on, or from the oldest that is left. */
export type Asked = { at: number } | 'oldest';

/**
 * One answer of Nomad, laid to what was read before. Its first bytes are ones that were read already, if anything was:
 * only so does it show that files were dropped meanwhile, by which all later offsets of the server mean other bytes.
 */
export class LogAnswer {
  private readonly pieces: Uint8Array[] = [];
  private at: number | undefined;
  private file: number | undefined;
  private start: number;
  /** How much is new. */
  bytes = 0;
  /** It does not go on where it was asked to. */
  isElsewhere = false;
  /** What comes next was dropped before it was read. */
  isCut = false;

  constructor(
    private readonly files: LogFiles,
    private readonly asked: Asked,
    private readonly place: LogPlace,
  ) {
    this.start = place.position;
  }

  get isEmpty(): boolean {
    return this.at === undefined;
  }

  get isFull(): boolean {
    return this.bytes >= MOST_BYTES;
  }

  /** Takes the next frame; false if no more is wanted. */
  take(frame: LogFrame): boolean {
    const index = frame.file === undefined ? undefined : logFileIndex(frame.file);
    const at = this.at === undefined ? this.begin(frame, index) : this.goOn(this.at, index);
    if (at === undefined) return false;
    const { data } = frame;
    if (!this.agrees(data, at)) {
      this.isElsewhere = true;
      return false;
    }
    if (this.bytes === 0 && at > this.start) {
      this.start = at;
      this.isCut = true;
    }
    const fresh = data.subarray(Math.max(0, this.start + this.bytes - at));
    if (fresh.length > 0) this.pieces.push(fresh);
    this.bytes += fresh.length;
    this.at = at + data.length;
    return !this.isFull;
  }

  /** What is new in it, and where. */
  contents(): { at: number; bytes: Uint8Array } {
    return {
      at: this.start,
      bytes: this.pieces.length === 1 ? (this.pieces[0] ?? NOTHING) : Buffer.concat(this.pieces),
    };
  }

  /** Where reading is after it. */
  placeAfter({ at, bytes }: { at: number; bytes: Uint8Array }): LogPlace {
    const { last } = this.place;
    const before = this.isCut ? NOTHING : last;
    const tail = bytes.length >= LAST_BYTES ? bytes : Buffer.concat([before, bytes]);
    return { position: at + bytes.length, last: Uint8Array.from(tail.subarray(-LAST_BYTES)) };
  }

  /** Where its first byte belongs. */
  private begin({ offset }: LogFrame, index: number | undefined): number | undefined {
    const { files, asked } = this;
    this.file = index;
    if (asked === 'oldest') {
      if (index !== undefined) files.begin(index);
      return files.startOf(files.oldest);
    }
    const expected = files.at(asked.at);
    const away = (offset ?? 0) - (asked.at - files.startOf(expected));
    this.isElsewhere = index !== undefined && (index !== expected || (offset !== undefined && isFar(away)));
    return this.isElsewhere ? undefined : asked.at;
  }

  /** Where the next byte belongs; nothing, for now, where files are missing between. */
  private goOn(at: number, index: number | undefined): number | undefined {
    if (index === undefined || this.file === undefined || index <= this.file) return at;
    const isNext = index === this.file + 1;
    if (!isNext && this.bytes > 0) return undefined;
    if (isNext) this.files.note(index, at);
    this.file = index;
    return this.files.startOf(index);
  }

  private agrees(data: Uint8Array, at: number): boolean {
    const { position, last } = this.place;
    const from = Math.max(at, position - last.length);
    const to = Math.min(at + data.length, position);
    for (let byte = from; byte < to; byte += 1) {
      if (data[byte - at] !== last[byte - position + last.length]) return false;
    }
    return true;
  }
}

const NOTHING = new Uint8Array();

const isFar = (away: number): boolean => Math.abs(away) > NEAR_BYTES;
