import { TextDecoder } from 'node:util';
import { AttemptEvent, CutEvent, type LogStream, PieceEvent } from '../contracts/log-events.js';
import { LogLines } from '../contracts/log-lines.js';
import type { ServerEvent } from './event-parser.js';
import { followEvents } from './event-source.js';
import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import { Outage } from './outage.js';
import type { Session } from './session.js';
import { plainLines } from './text.js';

export interface LogOptions {
  attempt?: number;
  stream?: LogStream;
  follow?: boolean;
  raw?: boolean;
}

/** How long following goes on without an answer. */
const PATIENCE_MS = 300_000;

const LINE_END = Uint8Array.of(10);

/**
 * Prints a log as it arrives, in lines that are of one stream: byte for byte into a file or pipe, or if that is asked for,
 * and on a terminal without what could move its cursor. With `--json` the document holds the whole text.
 */
export async function printLogs(session: Session, id: string, options: LogOptions): Promise<void> {
  const { attempt, stream } = options;
  const path = `/runs/${encodeURIComponent(id)}/logs`;
  const printer = new LogPrinter(session, options.raw === true);
  if (options.follow) await followLog(session, id, path, options, printer);
  else
    for await (const bytes of session.client.stream(path, { query: { attempt, stream } })) await printer.print(bytes);
  printer.end({ run: id, attempt, stream });
}

/** Until the run is settled. Ctrl-C ends the following, not the run. */
async function followLog(
  session: Session,
  id: string,
  path: string,
  { attempt, stream }: LogOptions,
  printer: LogPrinter,
): Promise<void> {
  const { terminal } = session;
  const interrupt = new AbortController();
  const restore = terminal.onInterrupt(() => interrupt.abort());
  const outage = new Outage(PATIENCE_MS, (message) => session.note(message));
  const query = { follow: 'true', attempt, stream };
  try {
    for await (const event of followEvents(session, { path, query, outage, signal: interrupt.signal })) {
      await printer.show(event);
    }
  } finally {
    restore();
  }
  if (!interrupt.signal.aborted) return;
  printer.endLine();
  throw new CliError(
    EXIT.interrupted,
    `stopped following; run ${id} is not affected`,
    `npx everdict run logs -f ${id}`,
  );
}

/** Puts bytes of a job on the screen. A letter may be cut in two between pieces, but not between streams. */
class LogPrinter {
  private readonly decoders: Record<LogStream, TextDecoder> = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  private lines = new LogLines();
  private document = '';
  private last = '';

  constructor(
    private readonly session: Session,
    private readonly isRaw: boolean,
  ) {}

  async print(bytes: Uint8Array, stream: LogStream = 'stdout'): Promise<void> {
    const { isJson, terminal } = this.session;
    if (!isJson && (this.isRaw || !terminal.out.isTty)) return terminal.out.writeBytes(bytes);
    const text = this.decoders[stream].decode(bytes, { stream: true });
    if (isJson) this.document += text;
    else terminal.out.write(plainLines(text));
    this.last = text.at(-1) ?? this.last;
  }

  /** One event of a followed log. */
  async show({ event, data }: ServerEvent): Promise<void> {
    const parsed: unknown = JSON.parse(data);
    if (event === 'log') {
      const { base64, stream } = PieceEvent.parse(parsed);
      const { endsLine, rest } = this.lines.add(stream, Buffer.from(base64, 'base64'));
      if (endsLine) await this.print(LINE_END);
      await this.print(rest, stream);
    } else if (event === 'cut') {
      const { bytes, stream } = CutEvent.parse(parsed);
      this.lines.endLine();
      await this.print(Buffer.from(`\n[${bytes} bytes of ${stream} cut]\n`), stream);
    } else if (event === 'attempt') {
      if (this.lines.endLine()) await this.print(LINE_END);
      this.lines = new LogLines();
      this.session.note(`attempt ${AttemptEvent.parse(parsed).attempt}`);
    }
  }

  /** Whatever follows on a terminal begins on a line of its own. */
  endLine(): void {
    if (this.last !== '' && this.last !== '\n') this.session.terminal.out.write('\n');
    this.last = '';
  }

  end(document: object): void {
    if (this.session.isJson) this.session.answer({ ...document, text: this.document }, () => '');
    else this.endLine();
  }
}
