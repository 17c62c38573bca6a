import { type FileHandle, open } from 'node:fs/promises';
import type { StreamedBody } from './http.client.js';
import type { Terminal } from './session.js';
import { unreadable } from './spec-files.js';

const MB = 1024 * 1024;
const NEWLINE = 0x0a;
/** Without a terminal each line stays, so there are few. */
const REDRAW_MS = 100;
const LINE_MS = 5_000;

/** A file of cases, one a line, that is read as fast as it is taken, and says how far it is. */
export async function streamedFile(file: string, terminal: Terminal): Promise<StreamedBody> {
  try {
    const handle = await open(file);
    const stat = await handle.stat();
    if (stat.isFile()) {
      return { type: 'application/x-ndjson', length: stat.size, chunks: chunksOf(handle, stat.size, terminal) };
    }
    await handle.close();
  } catch (error) {
    throw unreadable(file, error);
  }
  throw unreadable(file, { code: 'EISDIR' });
}

async function* chunksOf(
  handle: FileHandle,
  size: number,
  terminal: Terminal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const progress = new UploadProgress(terminal, size);
  try {
    // Chunks of 64 KB. No more than was announced, should the file grow meanwhile.
    const end = size - 1;
    if (size > 0) {
      for await (const chunk of handle.createReadStream({ end, autoClose: false })) {
        yield chunk;
        progress.passed(chunk);
      }
    }
  } finally {
    progress.end();
    await handle.close();
  }
}

/** `12.3 of 480.0 MB, 1,234 cases`: redrawn in place on a terminal, else a line now and then. */
class UploadProgress {
  private bytes = 0;
  private cases = 0;
  private isInLine = false;
  private shownAt: number;
  private isDrawn = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly size: number,
  ) {
    this.shownAt = terminal.now();
  }

  passed(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    for (const byte of chunk) {
      if (byte !== NEWLINE && !this.isInLine) this.cases += 1;
      this.isInLine = byte !== NEWLINE;
    }
    const { err, now } = this.terminal;
    if (now() - this.shownAt < (err.isTty ? REDRAW_MS : LINE_MS)) return;
    this.shownAt = now();
    this.isDrawn = true;
    err.write(err.isTty ? `\r\u001b[2K${this.line}` : `${this.line}\n`);
  }

  /** Takes the line away: what comes next says how it ended. */
  end(): void {
    const { err } = this.terminal;
    if (this.isDrawn && err.isTty) err.write('\r\u001b[2K');
  }

  private get line(): string {
    const [done, all] = [this.bytes, this.size].map((bytes) => (bytes / MB).toFixed(1));
    return `${done} of ${all} MB sent, ${this.cases.toLocaleString('en')} cases`;
  }
}
