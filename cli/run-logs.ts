import type { Session } from './session.js';
import { plainLines } from './text.js';

export interface LogOptions {
  attempt?: number;
  stream?: string;
}

/**
 * Prints a log as it arrives: byte for byte into a file or pipe, and on a terminal without what could move its cursor.
 * With `--json` the document holds the whole text.
 */
export async function printLogs(session: Session, id: string, { attempt, stream }: LogOptions): Promise<void> {
  const { out } = session.terminal;
  const path = `/runs/${encodeURIComponent(id)}/logs`;
  const decoder = new TextDecoder();
  let document = '';
  let last = '';
  for await (const bytes of session.client.stream(path, { query: { attempt, stream } })) {
    if (!session.isJson && !out.isTty) {
      await out.writeBytes(bytes);
      continue;
    }
    const text = decoder.decode(bytes, { stream: true });
    if (session.isJson) document += text;
    else out.write(plainLines(text));
    last = text.at(-1) ?? last;
  }
  if (session.isJson) session.answer({ run: id, attempt, stream, text: document }, () => '');
  else if (last !== '' && last !== '\n') out.write('\n');
}
