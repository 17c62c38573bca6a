import type { LoggerService } from '@nestjs/common';
import type { JsonLog } from '../../config/log.js';

/** What the framework says: warnings and errors only, for its chatter at start is of no use. */
export class FrameworkLog implements LoggerService {
  constructor(private readonly out: JsonLog) {}

  log(): void {}

  warn(message: unknown, ...rest: unknown[]): void {
    this.out.warn('framework warning', { detail: message, rest });
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.out.error('framework error', { detail: message, rest });
  }
}
