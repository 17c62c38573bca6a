import type { LogTrouble } from '../log-reading.js';
import type { Reply } from './k8s.client.js';
import { type LineSink, StampedLines } from './k8s.log-lines.js';
import { logFaultOf, logTroubleOf } from './k8s.log-status.js';
import type { Take } from './k8s.log-stream.js';

/** The last line that there is, as far as it was asked for: a long one is in several entries. */
export interface LastLine {
  stamp: string;
  /** Which one it is of those with its timestamp. Absent: nothing before them was asked for. */
  nth: number | undefined;
  bytes: number;
}

export type LogTail = ({ kind: 'line' } & LastLine) | { kind: 'none' } | LogTrouble;

/** Entries of nodes take 16 KB: an answer that is longer is none. */
const MOST_BYTES = 4 * 1_024 * 1_024;

/** What an answer of the last few entries says of the end of a log. */
export async function tailOf(open: (take: Take) => Promise<Reply>): Promise<LogTail> {
  const last = new LineCounter();
  const lines = new StampedLines(last, { isCutBefore: false, isFollow: false });
  let size = 0;
  const reply = await open(async (piece) => {
    size += piece.length;
    return lines.push(piece) && size <= MOST_BYTES;
  });
  if (reply.status !== 200) return logTroubleOf(reply);
  lines.end();
  if (lines.fault !== undefined) return logFaultOf(lines.fault);
  const { stamp, nth, bytes, isBegun } = last;
  if (nth === 0 || size > MOST_BYTES) return { kind: 'none' };
  return { kind: 'line', stamp, nth: isBegun ? nth : undefined, bytes };
}

class LineCounter implements LineSink {
  stamp = '';
  nth = 0;
  bytes = 0;
  /** A line with another timestamp came before. */
  isBegun = false;

  line(stamp: string): boolean {
    this.isBegun ||= this.nth > 0 && stamp !== this.stamp;
    this.nth = stamp === this.stamp ? this.nth + 1 : 1;
    this.stamp = stamp;
    this.bytes = 0;
    return true;
  }

  text(bytes: Buffer): void {
    this.bytes += bytes.length;
  }
}
