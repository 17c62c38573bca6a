import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { KEEP_ALIVE } from './pooled-client.js';

const CHANNEL = 'scorecards';
const RECONNECT_MS = 1_000;

/**
 * The one connection of a process that hears of scorecards of which a run was settled, or that are finished. It comes
 * back by itself. What was said while it was away is lost: notes are a reason to look sooner, never the only one.
 */
export class ScorecardNotes {
  private client: pg.Client | undefined;
  private isClosed = false;
  private isStarted = false;

  constructor(private readonly url: string) {}

  /** Connects, at the first call. */
  listen(onNote: (scorecardId: string) => void): void {
    if (this.isStarted) return;
    this.isStarted = true;
    void this.keepListening(onNote);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.client?.end().catch(() => undefined);
  }

  private async keepListening(onNote: (scorecardId: string) => void): Promise<void> {
    for (; !this.isClosed; await sleep(RECONNECT_MS, undefined, { ref: false })) {
      const client = new pg.Client({
        connectionString: this.url,
        application_name: 'everdict-api-notes',
        connectionTimeoutMillis: 5_000,
        ...KEEP_ALIVE,
      });
      this.client = client;
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      client.on('error', () => undefined);
      client.on('notification', ({ payload }) => onNote(payload ?? ''));
      try {
        await client.connect();
        await client.query(`LISTEN ${CHANNEL}`);
        await ended;
      } catch {
        // Not there yet, or not there any more: polling goes on meanwhile.
        await client.end().catch(() => undefined);
      }
    }
  }
}
