import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** What one request is answered with. Objects go as JSON; the text of an error, or of a type of its own, as it is. */
export type Answer =
  | { status: number; body: unknown; headers?: Record<string, string> }
  /** A body piece by piece. One that throws cuts the connection; the signal says that nobody reads any more. */
  | { status: number; stream: (gone: AbortSignal) => AsyncIterable<Buffer>; headers?: Record<string, string> }
  /** Takes the request and never answers. */
  | 'hang'
  /** Cuts the connection. */
  | 'reset'
  /** Sends a header, and then a byte now and then. */
  | 'drip'
  /** Sends a body without an end. */
  | 'endless';

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  token?: string;
  body?: unknown;
}

const DRIP_MS = 20;

export async function send(reply: ServerResponse, answer: Answer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    reset(reply.socket);
    return;
  }
  if (answer === 'drip' || answer === 'endless') {
    reply.writeHead(200, { 'content-type': 'application/json' });
    if (answer === 'drip') drip(reply);
    else flood(reply);
    return;
  }
  if ('stream' in answer) {
    await pump(reply, answer);
    return;
  }
  const { text, headers } = encoded(answer);
  reply.writeHead(answer.status, headers);
  reply.end(text);
}

/** What is encrypted has no reset of its own. */
function reset(socket: Socket | null): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
}

/** The bytes of a whole answer, with their type. */
export function encoded(answer: { status: number; body: unknown; headers?: Record<string, string> }) {
  const { status, body, headers = {} } = answer;
  const isText = typeof body === 'string' && status !== 200;
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  const isRaw = isText || headers['content-type'] !== undefined;
  return { text: isRaw ? String(body) : JSON.stringify(body), headers: { 'content-type': type, ...headers } };
}

async function pump(reply: ServerResponse, { status, stream, headers }: Extract<Answer, { stream: unknown }>) {
  const gone = new AbortController();
  reply.once('close', () => gone.abort());
  reply.writeHead(status, headers);
  reply.flushHeaders();
  try {
    for await (const piece of stream(gone.signal)) {
      if (gone.signal.aborted) return;
      if (!reply.write(piece)) await drained(reply, gone.signal);
    }
    reply.end();
  } catch {
    // What was written goes out first.
    reply.socket?.destroySoon();
  }
}

function drained(reply: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      reply.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    reply.once('drain', done);
    gone.addEventListener('abort', done);
  });
}

function drip(reply: ServerResponse): void {
  const timer = setInterval(() => reply.write(' '), DRIP_MS);
  reply.on('close', () => clearInterval(timer));
}

function flood(reply: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, ' ');
  const timer = setInterval(() => {
    if (!reply.writableNeedDrain) reply.write(chunk);
  });
  reply.on('close', () => clearInterval(timer));
}
