import { writeSync } from 'node:fs';
import { type Mask, redact } from './redact.js';
import { currentRequestId } from './request-context.js';

type Fields = object;

const STDOUT = 1;

/** Writes to a file or pipe. A full disk, or a reader that went away, costs lines; a stream would take the process along. */
export const linesTo =
  (fd: number) =>
  (line: string): void => {
    try {
      writeSync(fd, line);
    } catch {
      // There is nowhere to say so.
    }
  };

/** JSON lines with a constant message and fields. All that a process says goes through it, and is redacted here. */
export class JsonLog {
  private mask: Mask = (text) => text;

  constructor(private readonly write: (line: string) => void = linesTo(STDOUT)) {}

  /** From now on every text passes through `mask`. */
  maskWith(mask: Mask): void {
    this.mask = mask;
  }

  info(message: string, fields: Fields = {}): void {
    this.line('info', message, fields);
  }

  warn(message: string, fields: Fields = {}): void {
    this.line('warn', message, fields);
  }

  error(message: string, fields: Fields = {}): void {
    this.line('error', message, fields);
  }

  protected line(level: string, message: string, fields: Fields): void {
    const requestId = currentRequestId();
    const line = { time: new Date().toISOString(), level, message, ...(requestId && { requestId }), ...fields };
    this.write(`${JSON.stringify(redact(line, this.mask))}\n`);
  }
}
