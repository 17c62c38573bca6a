import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { OnModuleDestroy } from '@nestjs/common';
import type { JsonLog } from '../../config/log.js';

export const EVENT_STREAM = 'text/event-stream';
/** A connection that says nothing for longer is dropped by proxies, and its client cannot tell that it lives. */
const HEARTBEAT_MS = 15_000;
/** What clients wait before they come back after a drop. */
const RETRY_MS = 1_000;
/** Held for a reader that is slower than we are, beside the event at hand. */
const BUFFER_BYTES = 64 * 1_024;

export interface StreamEvent {
  event: string;
  /** Where to resume: a client sends the id of its last event as `Last-Event-ID`. */
  id: string;
  data: unknown;
}

/** One event on the wire. JSON has no line break of its own, so that `data` is one line. */
const frame = ({ event, id, data }: StreamEvent): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Server-Sent Events. The next event is asked for once the socket has taken the ones before, so a slow reader holds one
 * event and a small buffer. A client that goes away aborts the signal; so does the end of the process, which ends every
 * answer cleanly and without an `end` event: clients come back to whoever serves then.
 */
export class EventStreams implements OnModuleDestroy {
  private readonly answers = new Set<AbortController>();
  private isClosing = false;

  constructor(
    private readonly log: Pick<JsonLog, 'error'>,
    private readonly heartbeatMs = HEARTBEAT_MS,
  ) {}

  /** The bytes to answer with. `events` has to end soon after its signal aborts. */
  open(response: ServerResponse, events: (signal: AbortSignal) => AsyncGenerator<StreamEvent>): Readable {
    const gone = new AbortController();
    if (this.isClosing || response.closed) {
      gone.abort();
    } else {
      this.answers.add(gone);
      response.once('close', () => {
        gone.abort();
        this.answers.delete(gone);
      });
    }
    // A connection kept alive after its stream ended would hold up the end of the process.
    response.setHeader('connection', 'close');
    response.setHeader('cache-control', 'no-store');
    const bytes = this.frames(events(gone.signal), gone.signal);
    return Readable.from(bytes, { objectMode: false, highWaterMark: BUFFER_BYTES });
  }

  onModuleDestroy(): void {
    this.isClosing = true;
    for (const gone of this.answers) gone.abort();
  }

  private async *frames(events: AsyncGenerator<StreamEvent>, signal: AbortSignal): AsyncGenerator<string> {
    yield `retry: ${RETRY_MS}\n\n`;
    try {
      for (let next = events.next(); !signal.aborted; ) {
        const result = await within(this.heartbeatMs, next);
        if (result?.done) return;
        yield result ? frame(result.value) : ': still here\n\n';
        if (result) next = events.next();
      }
    } catch (error) {
      // The head is sent: all that can be done is to end, so that the client comes back.
      this.log.error('event stream failed', { error });
    } finally {
      await events.return(undefined);
    }
  }
}

/** Undefined if it takes longer. */
async function within<Result>(ms: number, result: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearTimeout(timer);
  }
}
