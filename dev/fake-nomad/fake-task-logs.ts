import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type LogStream = 'stdout' | 'stderr';

/** `LogConfig` of a task. */
export interface LogLimits {
  MaxFiles: number;
  MaxFileSizeMB: number;
  Disabled?: boolean;
}

const MB = 1024 * 1024;

/**
 * Where the output of a task goes: files that are numbered for ever, of which the last few are kept. A file ends at its
 * very limit, within a line or a character.
 */
export class LogFiles {
  private readonly open = new Map<LogStream, { fd: number; index: number; size: number }>();

  constructor(
    private readonly directory: string,
    private readonly task: string,
    private readonly limits: LogLimits = { MaxFiles: 10, MaxFileSizeMB: 10 },
  ) {
    if (limits.Disabled) return;
    for (const stream of ['stdout', 'stderr'] as const) this.start(stream, 0);
  }

  append(stream: LogStream, bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const file = this.open.get(stream);
      if (!file) return;
      const room = this.limits.MaxFileSizeMB * MB - file.size;
      if (room === 0) {
        closeSync(file.fd);
        this.start(stream, file.index + 1);
        continue;
      }
      const part = rest.subarray(0, room);
      writeSync(file.fd, part);
      file.size += part.length;
      rest = rest.subarray(part.length);
    }
  }

  close(): void {
    for (const { fd } of this.open.values()) closeSync(fd);
    this.open.clear();
  }

  private start(stream: LogStream, index: number): void {
    const path = (number: number): string => join(this.directory, `${this.task}.${stream}.${number}`);
    rmSync(path(index - this.limits.MaxFiles), { force: true });
    const fd = openSync(path(index), 'a');
    this.open.set(stream, { fd, index, size: 0 });
  }
}
