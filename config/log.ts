import { writeSync } from 'node:fs';

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

/** JSON lines with a constant message and fields. */
export class JsonLog {
  constructor(private readonly write: (line: string) => void = linesTo(STDOUT)) {}

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
    const line = { time: new Date().toISOString(), level, message, ...fields };
    this.write(`${JSON.stringify(line, toJson)}\n`);
  }
}

/** Everything of an error that helps to find its cause; only logs show it, answers never do. */
function toJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
