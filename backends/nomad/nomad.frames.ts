import { z } from 'zod';

/** A piece of a log, in the order in which Nomad sends them: its offsets are no offsets of `data`. */
export interface LogFrame {
  data: Uint8Array;
  /** The rotated file that it is of, as `alloc/logs/case.stdout.0`; absent where that was not said. */
  file?: string;
  /** About where in that file it was read: beyond the first byte, by at most what Nomad reads at once. */
  offset?: number;
}

/** What ended an answer other than with a whole frame: an error that Nomad appended, or a cut in the middle of one. */
export type FrameFault = { kind: 'error'; text: string } | { kind: 'cut' };

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
/** Of one frame; Nomad puts at most 64 KiB of a log in it. */
const MOST_FRAME_BYTES = 1_024 * 1_024;
const MOST_ERROR_BYTES = 1_024;
/** Of frames without data, one after the other: Nomad sends one as a sign of life now and then. */
const MOST_EMPTY_BYTES = 64 * 1_024;
const NOTHING = Buffer.alloc(0);

const Frame = z.object({
  Data: z.string().nullish(),
  File: z.string().nullish(),
  Offset: z.number().nullish(),
});

/**
 * Reads JSON objects that follow each other without a separator, however they are cut. From the first that is none on,
 * all is the text of an error. Holds no more than one frame.
 */
export class FrameReader {
  private held: Buffer = NOTHING;
  /** Where in what is held looking goes on, how deep in objects, and whether inside a string. */
  private at = 0;
  private depth = 0;
  private isInString = false;
  private isBroken = false;
  /** Length of the frames without data since the last with some. */
  private emptyBytes = 0;

  /** Nothing that still comes is of use: there is no frame any more, or nothing in any. */
  get isOver(): boolean {
    return this.isBroken ? this.held.length >= MOST_ERROR_BYTES : this.emptyBytes > MOST_EMPTY_BYTES;
  }

  /** The frames that are whole now, without the empty ones. What it is given may be held, and stays as it is. */
  push(chunk: Uint8Array): LogFrame[] {
    const frames: LogFrame[] = [];
    this.held = this.held.length === 0 ? viewOf(chunk) : Buffer.concat([this.held, chunk]);
    while (!this.isBroken) {
      const end = this.frameEnd();
      if (end === undefined) break;
      const frame = frameOf(this.held.subarray(0, end));
      if (!frame) {
        this.isBroken = true;
        break;
      }
      if (frame.data.length > 0) frames.push(frame);
      this.emptyBytes = frame.data.length > 0 ? 0 : this.emptyBytes + end;
      this.held = this.held.subarray(end);
      this.at = 0;
    }
    if (this.held.length > MOST_FRAME_BYTES) this.isBroken = true;
    if (this.isBroken) this.held = Buffer.from(this.held.subarray(0, MOST_ERROR_BYTES));
    return frames;
  }

  /** What is left once the answer has ended. */
  end(): FrameFault | undefined {
    const text = this.held.toString('utf8').trim();
    if (this.isBroken) return { kind: 'error', text };
    return text === '' ? undefined : { kind: 'cut' };
  }

  /** End of the object that begins what is held; absent if more has to come. */
  private frameEnd(): number | undefined {
    const { held } = this;
    while (this.at < held.length) {
      if (this.isInString) {
        const quote = held.indexOf(QUOTE, this.at);
        this.at = quote < 0 ? held.length : quote + 1;
        this.isInString = quote < 0 || isEscaped(held, quote);
        continue;
      }
      const byte = held[this.at];
      if (this.depth === 0 && byte !== OPEN) {
        if (!isSpace(byte)) {
          this.isBroken = true;
          return undefined;
        }
      } else if (byte === QUOTE) this.isInString = true;
      else if (byte === OPEN) this.depth += 1;
      else if (byte === CLOSE) this.depth -= 1;
      this.at += 1;
      if (byte === CLOSE && this.depth === 0) return this.at;
    }
    return undefined;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 9 || byte === 10 || byte === 13;

/** Whether an odd number of backslashes stands before it. */
function isEscaped(bytes: Buffer, quote: number): boolean {
  let before = quote;
  while (before > 0 && bytes[before - 1] === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 1;
}

function frameOf(bytes: Buffer): LogFrame | undefined {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  const parsed = Frame.safeParse(json);
  if (!parsed.success) return undefined;
  const { Data, File, Offset } = parsed.data;
  return {
    data: Data ? Buffer.from(Data, 'base64') : NOTHING,
    ...(File && { file: File }),
    ...(Offset && { offset: Offset }),
  };
}
