import { Socket } from 'node:net';
import pg from 'pg';

/** A dead peer is found by probes of the system after this and ten seconds, where nothing of ours is under way. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export interface PooledClientConfig extends pg.ClientConfig {
  /** A connection on which nothing moves for so long is dead. */
  silenceMs?: number;
}

/** How long a statement may take, and a connection be silent, of which the server and we must both be sure. */
export function limitsOf(statementMs: number): PooledClientConfig {
  const silenceMs = statementMs * 1.25;
  return {
    statement_timeout: statementMs,
    // What we gave up must not hold its locks.
    idle_in_transaction_session_timeout: silenceMs,
    silenceMs,
  };
}

/** One that breaks while it passes from the pool to its user, or back, has nobody else to tell, and ends no process. */
export class PooledClient extends pg.Client {
  constructor(config: PooledClientConfig = {}) {
    super(config);
    this.on('error', () => undefined);
    const { silenceMs } = config;
    if (silenceMs !== undefined) this.once('connect', () => this.endWhenSilent(silenceMs));
  }

  /** The server ends every statement sooner, so whoever waits longer waits for a network that carries nothing. */
  private endWhenSilent(silenceMs: number): void {
    const { stream } = this.connection;
    if (!(stream instanceof Socket)) return;
    stream.setTimeout(silenceMs, () => {
      const error = new Error(`the connection was silent for ${silenceMs} ms`);
      stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
    });
  }
}
