import type { LoggerService } from '@nestjs/common';

type Fields = Record<string, unknown>;

/** JSON lines with a constant message and fields. */
export class Log {
  constructor(private readonly write: (line: string) => void = (line) => process.stdout.write(line)) {}

  info(message: string, fields: Fields = {}): void {
    this.line('info', message, fields);
  }

  warn(message: string, fields: Fields = {}): void {
    this.line('warn', message, fields);
  }

  error(message: string, fields: Fields = {}): void {
    this.line('error', message, fields);
  }

  private line(level: string, message: string, fields: Fields): void {
    const line = { time: new Date().toISOString(), level, message, ...fields };
    this.write(`${JSON.stringify(line, (_key, value) => (value instanceof Error ? errorFields(value) : value))}\n`);
  }
}

/** Everything of an error that helps to find its cause; only logs show it, answers never do. */
function errorFields({ name, message, stack, cause }: Error): Fields {
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}

/** What the framework says: warnings and errors only, for its chatter at start is of no use. */
export class FrameworkLog implements LoggerService {
  constructor(private readonly out: Log) {}

  log(): void {}

  warn(message: unknown, ...rest: unknown[]): void {
    this.out.warn('framework warning', { detail: message, rest });
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.out.error('framework error', { detail: message, rest });
  }
}
