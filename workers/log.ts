import type { Logger, LogLevel, LogMetadata } from '@temporalio/worker';

const SHOWN: ReadonlySet<LogLevel> = new Set(['INFO', 'WARN', 'ERROR']);

/** JSON lines with a constant message and fields, for what we say and for what the Temporal SDK says. */
export class WorkerLog implements Logger {
  constructor(private readonly write: (line: string) => void = (line) => process.stdout.write(line)) {}

  log(level: LogLevel, message: string, fields: LogMetadata = {}): void {
    if (!SHOWN.has(level)) return;
    const line = { time: new Date().toISOString(), level: level.toLowerCase(), message, ...fields };
    this.write(`${JSON.stringify(line, toJson)}\n`);
  }

  trace(message: string, fields?: LogMetadata): void {
    this.log('TRACE', message, fields);
  }
  debug(message: string, fields?: LogMetadata): void {
    this.log('DEBUG', message, fields);
  }
  info(message: string, fields?: LogMetadata): void {
    this.log('INFO', message, fields);
  }
  warn(message: string, fields?: LogMetadata): void {
    this.log('WARN', message, fields);
  }
  error(message: string, fields?: LogMetadata): void {
    this.log('ERROR', message, fields);
  }
}

function toJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
