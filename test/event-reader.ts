import { parseEvents, type ServerEvent } from '../cli/event-parser.js';

/** A client of one stream of events. */
export class EventReader {
  readonly events: ServerEvent[] = [];
  /** Everything that came, heartbeats too. */
  text = '';
  private readonly gone = new AbortController();
  private readonly listeners = new Set<() => void>();
  /** Resolves when the server ended the stream, with whether it did so cleanly. */
  readonly ended: Promise<'clean' | 'broken'>;

  private constructor(readonly response: Response) {
    this.ended = this.read().then(
      () => 'clean',
      () => 'broken',
    );
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const gone = new AbortController();
    const reader = new EventReader(await fetch(url, { headers, signal: gone.signal }));
    reader.gone.signal.addEventListener('abort', () => gone.abort());
    return reader;
  }

  /** Every event until the server ends the stream. */
  static async all(url: string, headers: Record<string, string> = {}): Promise<ServerEvent[]> {
    const reader = await EventReader.open(url, headers);
    await reader.ended;
    return reader.events;
  }

  private async read(): Promise<void> {
    const { body } = this.response;
    if (!body) return;
    const noted = async function* (this: EventReader): AsyncGenerator<Uint8Array> {
      for await (const bytes of body) {
        this.text += Buffer.from(bytes).toString();
        yield bytes;
      }
    };
    for await (const event of parseEvents(noted.call(this))) {
      this.events.push(event);
      for (const listener of this.listeners) listener();
    }
  }

  /** Resolves with the first event that matches, past or to come; fails if the stream ends without. */
  until(matches: (event: ServerEvent) => boolean): Promise<ServerEvent> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.events.find(matches);
        if (!found) return;
        this.listeners.delete(look);
        resolve(found);
      };
      this.listeners.add(look);
      look();
      void this.ended.then(() => reject(new Error(`the stream ended after ${JSON.stringify(this.events)}`)));
    });
  }

  drop(): void {
    this.gone.abort();
  }
}
