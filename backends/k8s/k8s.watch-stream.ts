import { z } from 'zod';
import { ClusterFailure } from '../cluster-client.js';
import { refusalOf } from './k8s.failures.js';

/** What a watch tells of one object: what it is now, or was last. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: unknown;
}

/** A longer line counts as none. Objects of the API have at most 3 MB or so. */
const LONGEST_LINE = 8 * 1024 * 1024;
const NEWLINE = 10;

const Line = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({}),
});
const Versioned = z.object({ metadata: z.object({ resourceVersion: z.string().min(1) }) });
const Code = z.object({ code: z.number().int().min(300) });

/** Reads the lines of one watch. What they say from `version` on was told; a line that says nothing of use throws. */
export class WatchStream {
  private pieces: Buffer[] = [];
  private size = 0;
  /** Bookmarks count: they say that nothing was missed. */
  lines = 0;

  constructor(
    public version: string,
    private readonly tell: (change: Change) => void,
  ) {}

  /** A piece of any length, as it comes. What remains at the end is no whole line, and is told by the next watch. */
  take(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.pieces, piece.subarray(from, end)]);
      this.pieces = [];
      this.size = 0;
      from = end + 1;
      if (line.length > 0) this.read(line);
    }
    if (from === piece.length) return;
    this.pieces.push(from === 0 ? piece : piece.subarray(from));
    this.size += piece.length - from;
    if (this.size > LONGEST_LINE) throw garbled();
  }

  private read(line: Buffer): void {
    const { type, object } = parsed(Line, jsonOf(line));
    if (type === 'ERROR') {
      const { code: status } = parsed(Code, object);
      throw refusalOf({ status, body: object });
    }
    const { resourceVersion } = parsed(Versioned, object).metadata;
    if (type !== 'BOOKMARK') this.tell({ type, object });
    this.version = resourceVersion;
    this.lines += 1;
  }
}

function jsonOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw garbled();
  }
}

function parsed<Shape extends z.ZodType>(shape: Shape, value: unknown): z.infer<Shape> {
  const { success, data } = shape.safeParse(value);
  if (!success) throw garbled();
  return data;
}

const garbled = (): ClusterFailure => new ClusterFailure('error', 'its watch says something that is no event');
