import type { LogTrouble } from '../log-reading.js';
import type { Reply } from './k8s.client.js';
import { type LineSink, StampedLines } from './k8s.log-lines.js';
import { logFaultOf, logTroubleOf } from './k8s.log-status.js';
import type { Take } from './k8s.log-stream.js';

/** The last line that there is, as far as it was asked for: a long one is in several entries. Absent: there is none. */
export type LogTail = { kind: 'line'; stamp: string; nth: number; bytes: number } | { kind: 'none' } | LogTrouble;

/** Entries of nodes take 16 KB: an answer that is longer is none. */
const MOST_BYTES = 4 * 1_024 * 1_024;

/** What an answer of the last few entries says of the end of a log. */
export async function tailOf(open: (take: Take) => Promise<Reply>): Promise<LogTail> {
  const last = new LastLine();
  const lines = new StampedLines(last, { isCutBefore: false, isFollow: false });
  let size = 0;
  const reply = await open(async (piece) => {
    size += piece.length;
    return lines.push(piece) && size <= MOST_BYTES;
  });
  if (reply.status !== 200) return logTroubleOf(reply);
  lines.end();
  if (lines.fault !== undefined) return logFaultOf(lines.fault);
  const { stamp, nth, bytes } = last;
  return nth === 0 || size > MOST_BYTES ? { kind: 'none' } : { kind: 'line', stamp, nth, bytes };
}

class LastLine implements LineSink {
  stamp = '';
  nth = 0;
  bytes = 0;

  line(stamp: string): boolean {
    this.nth = stamp === this.stamp ? this.nth + 1 : 1;
    this.stamp = stamp;
    this.bytes = 0;
    return true;
  }

  text(bytes: Buffer): void {
    this.bytes += bytes.length;
  }
}
