import { type Dispatcher, request } from 'undici';
import { ClusterFailure } from './cluster-client.js';
import { networkFailure, redirectFailure } from './cluster-failures.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ClusterReply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  bytes: Buffer;
  /** The bytes, as UTF-8. */
  readonly text: string;
}

export interface ClusterCall {
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  body?: object;
  /** What kind of JSON that is. */
  bodyType?: string;
  signal: AbortSignal;
  /** How long it may take to begin, ms. */
  firstByteMs?: number;
  /** Shared by calls that belong together. */
  budget?: ByteBudget;
  /**
   * Is given each piece of an answer of status 200 as it comes, of any length, and its content type, until it answers
   * with false; then the reply has no bytes. The next one waits for its answer.
   */
  take?(piece: Buffer, type: string): boolean | Promise<boolean>;
  /** Is told that such an answer begins, which may be long before its first piece. */
  onOpen?(): void;
}

/** How many bytes of answers may still be read. */
export interface ByteBudget {
  left: number;
}

/** One answer has more than is read of it: with less in it, it may be read. */
export class TooLongAnswer extends ClusterFailure {}

/** An answer that is longer counts as none. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Asks one cluster. Answers of any status come back, but for redirects, which nobody follows; whatever keeps an answer
 * from coming throws a `ClusterFailure`.
 */
export class ClusterHttp {
  constructor(
    private readonly base: URL,
    private readonly dispatcher: Dispatcher,
    private readonly headers: Readonly<Record<string, string>> = {},
    /** Only a certificate of a private authority is taken. */
    private readonly hasCa = false,
  ) {}

  async call(method: Method, path: string, call: ClusterCall): Promise<ClusterReply> {
    const { query = {}, body, bodyType = 'application/json', signal, firstByteMs, take, onOpen, budget } = call;
    const url = new URL(this.base.origin);
    url.pathname = `${this.base.pathname.replace(/\/+$/, '')}${path}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const content = body && { 'content-type': bodyType };
    try {
      const answer = await request(url, {
        dispatcher: this.dispatcher,
        method,
        signal,
        headers: { accept: 'application/json', 'user-agent': 'everdict', ...this.headers, ...content },
        ...(body && { body: JSON.stringify(body) }),
        ...(firstByteMs !== undefined && { headersTimeout: firstByteMs }),
      });
      const { statusCode: status, headers } = answer;
      if (status >= 300 && status < 400) {
        // Destroyed early it reports an error, to whom it may concern.
        answer.body.on('error', () => undefined).destroy();
        throw redirectFailure(headers.location, url);
      }
      const type = String(headers['content-type'] ?? '');
      if (take && status === 200) onOpen?.();
      const bytes =
        take && status === 200
          ? await taken(answer.body, (piece) => take(piece, type))
          : await bounded(answer.body, budget);
      return replyOf(status, headers, bytes);
    } catch (error) {
      throw networkFailure(error, signal, this.hasCa);
    }
  }
}

const replyOf = (status: number, headers: ClusterReply['headers'], bytes: Buffer): ClusterReply => ({
  status,
  headers,
  bytes,
  get text() {
    return bytes.toString('utf8');
  },
});

async function taken(
  body: Dispatcher.ResponseData['body'],
  take: (piece: Buffer) => boolean | Promise<boolean>,
): Promise<Buffer> {
  // Left early it reports an error, to whom it may concern.
  body.on('error', () => undefined);
  const pieces: AsyncIterable<Buffer> = body;
  for await (const piece of pieces) if (!(await take(piece))) break;
  return Buffer.alloc(0);
}

async function bounded(body: AsyncIterable<Buffer>, budget: ByteBudget = { left: MOST_BYTES }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    budget.left -= chunk.length;
    if (size > MOST_BYTES) {
      throw new TooLongAnswer('error', `it answers with more than ${MOST_BYTES / 1024 / 1024} MB`);
    }
    if (budget.left < 0) throw new ClusterFailure('error', 'its answers are longer than is read of one cluster');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Objects, lists and members of one answer. A page of what is asked for has a tenth of them. */
const MOST_PARTS = 1_000_000;

/** The JSON of an answer; nothing if it is none. Short text may stand for very much: how much is counted first. */
export function jsonOf({ text }: Pick<ClusterReply, 'text'>): unknown {
  if (hasMoreParts(text, MOST_PARTS)) {
    throw new TooLongAnswer('error', 'it answers with more than is read of one cluster');
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a text has more `,`, `[` and `{` than so many, wherever they stand. */
function hasMoreParts(text: string, most: number): boolean {
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 44 || code === 91 || code === 123) parts += 1;
  }
  return parts > most;
}
