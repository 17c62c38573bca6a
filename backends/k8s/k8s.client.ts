import { type ByteBudget, ClusterHttp, jsonOf } from '../cluster-http.js';
import type { Egress } from '../egress/guard.js';
import type { K8sAccess } from './k8s.access.js';
import { plainHttpFailure, unreadableFailure } from './k8s.failures.js';

const CONNECTIONS = 6;
const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_MS = 30_000;

export interface Reply {
  status: number;
  /** What was answered as JSON. Absent: something else was, or nothing. */
  body?: unknown;
}

/** What calls that belong together share. */
export interface Look {
  signal: AbortSignal;
  budget: ByteBudget;
}

/** Asks one API server as one account. A refusal is an answer; what is no answer of an API server throws. */
export class K8sClient {
  private readonly http: ClusterHttp;
  private readonly dispatcher: ReturnType<Egress['dispatcher']>;

  constructor({ server, authorization, ca, cert, key, servername }: K8sAccess, egress: Egress) {
    this.dispatcher = egress.dispatcher({
      tls: { ca, cert, key, servername },
      connections: CONNECTIONS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      silenceMs: SILENCE_MS,
    });
    this.http = new ClusterHttp(server, this.dispatcher, authorization === undefined ? {} : { authorization });
  }

  async get(path: string, look: Look, query: Record<string, string | number> = {}): Promise<Reply> {
    return replyOf(await this.http.call('GET', path, { query, ...look }));
  }

  async post(path: string, body: object, look: Look): Promise<Reply> {
    return replyOf(await this.http.call('POST', path, { body, ...look }));
  }

  /** Ends its connections at once. */
  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}

function replyOf(answer: Awaited<ReturnType<ClusterHttp['call']>>): Reply {
  if (/^Client sent an HTTP request to an HTTPS server/.test(answer.text)) throw plainHttpFailure();
  const body = jsonOf(answer);
  if (body === undefined && answer.status < 300) throw unreadableFailure();
  return { status: answer.status, body };
}
