import type { LogStream } from '../contracts/log-events.js';
import type { LogChunk, LogStore } from '../store/log.store.js';

/** Every chunk that is kept of an attempt, of one stream or of both. */
export async function wholeLog(
  logs: Pick<LogStore, 'page'>,
  runId: string,
  attempt: number,
  stream?: LogStream,
): Promise<LogChunk[]> {
  const at = stream ? { [stream]: 0 } : { stdout: 0, stderr: 0 };
  const found: LogChunk[] = [];
  for (;;) {
    const page = await logs.page(runId, attempt, at, true);
    if (page.length === 0) return found;
    for (const chunk of page) at[chunk.stream] = chunk.at + chunk.bytes.length;
    found.push(...page);
  }
}
