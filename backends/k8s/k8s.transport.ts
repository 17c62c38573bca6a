import type { Agent } from 'undici';
import { type ClusterCall, ClusterHttp, type ClusterReply, type Method } from '../cluster-http.js';
import type { Egress } from '../egress/guard.js';
import { withTimeLimit } from '../time-limit.js';
import type { K8sAccess } from './k8s.access.js';

/** In characters: nobody guesses it, and no object holds it by chance. */
const LONG_SECRET = 12;

/** Whom a connection is for: a call waits for one of a few, what goes on for long has one of its own. */
export type Lane = 'call' | 'watch' | 'log';

const CONNECT_TIMEOUT_MS = 5_000;
/** Of an answer that has not begun. */
const FIRST_BYTE_MS = 10_000;
/** One call with its answer, and its turn at a connection where many ask. */
const CALL_MS = 30_000;

/** `silenceMs`: of an answer that is under way. A job may print nothing for long. */
const LANES: Readonly<Record<Lane, { connections: number; silenceMs: number }>> = {
  call: { connections: 8, silenceMs: FIRST_BYTE_MS },
  watch: { connections: 4, silenceMs: 60_000 },
  log: { connections: 100_000, silenceMs: 300_000 },
};

/** The connections to one API server, as one account. */
export class K8sTransport {
  private readonly dispatchers: Record<Lane, Agent>;
  private readonly https: Record<Lane, ClusterHttp>;
  private readonly secret: string;

  constructor({ server, authorization = '', ca, cert, key, servername }: K8sAccess, egress: Egress) {
    const headers: Record<string, string> = authorization ? { authorization } : {};
    this.secret = authorization.replace(/^\S+ /, '');
    const dispatcherOf = (lane: Lane): Agent =>
      egress.dispatcher({ ...LANES[lane], tls: { ca, cert, key, servername }, connectTimeoutMs: CONNECT_TIMEOUT_MS });
    this.dispatchers = { call: dispatcherOf('call'), watch: dispatcherOf('watch'), log: dispatcherOf('log') };
    const httpOf = (lane: Lane): ClusterHttp =>
      new ClusterHttp(server, this.dispatchers[lane], headers, ca !== undefined);
    this.https = { call: httpOf('call'), watch: httpOf('watch'), log: httpOf('log') };
  }

  async ask(lane: Lane, method: Method, path: string, call: ClusterCall): Promise<ClusterReply> {
    const ask = (signal: AbortSignal): Promise<ClusterReply> =>
      this.https[lane].call(method, path, { firstByteMs: FIRST_BYTE_MS, ...call, signal });
    const answer = await (lane === 'call' ? withTimeLimit(call.signal, CALL_MS, ask) : ask(call.signal));
    return { ...answer, text: this.withoutSecret(answer.text) };
  }

  /** Takes no more requests, and ends once those that are under way have their answers. */
  async retire(): Promise<void> {
    await Promise.all(Object.values(this.dispatchers).map((dispatcher) => dispatcher.close()));
  }

  /** Ends its connections at once. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.dispatchers).map((dispatcher) => dispatcher.destroy()));
  }

  /** Whatever repeats what it was sent does not pass the credential on. A short one may be a word of what is there. */
  private withoutSecret(text: string): string {
    return this.secret.length >= LONG_SECRET ? text.replaceAll(this.secret, '*****') : text;
  }
}
