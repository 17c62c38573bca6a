import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { unlessAborted } from '../common/aborted.js';

export const SESSION_HEADER = 'mcp-session-id';
const ACCEPT = 'application/json, text/event-stream';
/** JSON-RPC codes: what is no JSON-RPC, what is no JSON, and the one of this transport for a session nobody has. */
const [INVALID_REQUEST, PARSE_ERROR, NO_SESSION, NOT_ALLOWED] = [-32_600, -32_700, -32_001, -32_000];
/** Nobody waits for the answer any more. */
const CLIENT_GONE = 499;

export function rpcRefusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

/** There are no sessions: whoever comes with one had it of somebody else, and has to begin anew. */
export const sessionUnknown = (): Response =>
  rpcRefusal(404, NO_SESSION, 'this session is not known: initialize again, without the header Mcp-Session-Id');

export const notAllowed = (): Response =>
  rpcRefusal(405, NOT_ALLOWED, 'there are no sessions and no streams of their own: POST every message', {
    allow: 'POST',
  });

export const notJson = (why: string): Response => rpcRefusal(400, PARSE_ERROR, `Parse error: ${why}`);

export interface Message {
  url: string;
  headers: Headers;
  body: unknown;
}

/**
 * Answers one message, or one batch of them, of any revision of the protocol, and holds nothing afterwards: every
 * process that serves the API can answer every message.
 */
export async function answerMessage(message: Message, signal: AbortSignal, serve: () => Server): Promise<Response> {
  const { body } = message;
  const headers = new Headers(message.headers);
  if (isBeginning(body)) headers.delete(SESSION_HEADER);
  else if (headers.has(SESSION_HEADER)) return sessionUnknown();
  const accepted = headers.get('accept') ?? '*/*';
  if (accepted.includes('*/*') || accepted.includes('application/json')) headers.set('accept', ACCEPT);
  const twice = Array.isArray(body) ? repeatedId(body) : undefined;
  if (twice !== undefined) {
    return rpcRefusal(400, INVALID_REQUEST, `Invalid Request: the batch has the id ${twice} more than once`);
  }
  const request = new Request(message.url, { method: 'POST', headers, signal });
  const answer = (await isLegacyRequest(request, body))
    ? answerOnce(request, body, serve)
    : modern(serve).fetch(request, { parsedBody: body });
  return (await unlessAborted(answer, signal)) ?? new Response(null, { status: CLIENT_GONE });
}

/** A client that initializes anew may still come with the session it lost. */
const isBeginning = (body: unknown): boolean => [body].flat().some((message) => isInitializeRequest(message));

async function answerOnce(request: Request, parsedBody: unknown, serve: () => Server): Promise<Response> {
  const server = serve();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  request.signal.addEventListener('abort', () => void server.close(), { once: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}

/** Nothing changes that a client could subscribe to. */
const modern = (serve: () => Server): McpHttpHandler =>
  createMcpHandler(serve, { legacy: 'reject', maxSubscriptions: 0 });

function repeatedId(batch: readonly unknown[]): string | undefined {
  const known = new Set<string>();
  for (const message of batch) {
    if (typeof message !== 'object' || message === null || !('id' in message)) continue;
    const id = JSON.stringify(message.id);
    if (known.has(id)) return id;
    known.add(id);
  }
  return undefined;
}
