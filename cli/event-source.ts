import type { ServerEvent } from './event-parser.js';
import type { Call } from './http.client.js';
import type { Outage } from './outage.js';
import type { Session } from './session.js';

/** Before coming back to a platform that ended the stream or does not answer. */
const PAUSE_MS = 500;

interface Source {
  path: string;
  query?: Call['query'];
  outage: Outage;
  signal: AbortSignal;
}

/**
 * Events up to and with `end`, however often the connection drops: each time it goes on after the last event it had.
 * Ends early when the signal aborts. Throws what is refused, and an outage that outlasts its patience.
 */
export async function* followEvents(session: Session, source: Source): AsyncGenerator<ServerEvent> {
  const { terminal, client } = session;
  const { path, query, outage, signal } = source;
  let lastEventId: string | undefined;
  for (; !signal.aborted; await terminal.sleep(PAUSE_MS, signal)) {
    const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId };
    try {
      for await (const event of client.events(path, { query, headers }, signal)) {
        outage.over(terminal.now());
        lastEventId = event.id;
        yield event;
        if (event.event === 'end') return;
      }
    } catch (error) {
      if (signal.aborted) return;
      outage.bear(error, terminal.now());
    }
  }
}
