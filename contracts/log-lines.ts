import type { LogStream } from './log-events.js';

const NEWLINE = 10;

/**
 * Shows pieces of both streams on one page. A piece comes without the newline at its end, which may belong to the job's
 * record: where the other stream goes on, the line is ended first, and the newline is left out when it arrives.
 */
export class LogLines {
  private open: LogStream | undefined;
  private readonly ended = new Set<LogStream>();

  /** What to show of the next piece, and whether the line before it has to be ended. */
  add(stream: LogStream, bytes: Uint8Array): { endsLine: boolean; rest: Uint8Array } {
    const isEnded = bytes.length > 0 && this.ended.delete(stream) && bytes[0] === NEWLINE;
    const rest = isEnded ? bytes.subarray(1) : bytes;
    if (rest.length === 0) return { endsLine: false, rest };
    const endsLine = this.open !== stream && this.endLine();
    this.open = rest.at(-1) === NEWLINE ? undefined : stream;
    return { endsLine, rest };
  }

  /** For what is of neither stream and begins a line: whether the line before it has to be ended. */
  endLine(): boolean {
    if (this.open === undefined) return false;
    this.ended.add(this.open);
    this.open = undefined;
    return true;
  }
}
