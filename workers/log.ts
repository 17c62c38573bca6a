import type { Logger, LogLevel, LogMetadata } from '@temporalio/worker';
import { JsonLog } from '../config/log.js';

const SHOWN: ReadonlySet<LogLevel> = new Set(['INFO', 'WARN', 'ERROR']);

/** The log of a worker process, also for what the Temporal SDK says. */
export class WorkerLog extends JsonLog implements Logger {
  log(level: LogLevel, message: string, fields: LogMetadata = {}): void {
    if (SHOWN.has(level)) this.line(level.toLowerCase(), message, fields);
  }

  trace(): void {}

  debug(): void {}
}
