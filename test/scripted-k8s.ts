import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { K8sAccess } from '../backends/k8s/k8s.access.js';
import { K8sClient } from '../backends/k8s/k8s.client.js';
import { K8sLink } from '../backends/k8s/k8s.link.js';
import { egress } from './nomad-jobs.js';

export interface K8sRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string;
  type: string;
  body: string;
}

export interface K8sAnswer {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** `rst` cuts the connection, `hang` never answers; a function says it itself, and may take its time. */
export type K8sScript = K8sAnswer | 'rst' | 'hang' | ((reply: ServerResponse, request: K8sRequest) => void);

export const NAMESPACE = 'evals';
export const CANARY = 'canary-token';

/** As an API server refuses. */
export const refusal = (code: number, reason: string, message = reason, details: object = {}): K8sAnswer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code },
});

/** A page of a list, as it was at a version. */
export const page = (items: object[], resourceVersion: string, next = ''): K8sAnswer => ({
  body: { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion, continue: next }, items },
});

/** One line of a watch. */
export const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
export const bookmark = (resourceVersion: string): string =>
  line('BOOKMARK', { kind: 'Job', metadata: { resourceVersion } });

/** Says these lines, and then nothing more, or ends. */
export const lines =
  (end: 'open' | 'end' | 'cut', ...said: string[]): K8sScript =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.flushHeaders();
    for (const one of said) reply.write(one);
    if (end === 'end') reply.end();
    if (end === 'cut') setTimeout(() => reply.socket?.resetAndDestroy(), 5);
  };

/** Answers as a test says, over plain HTTP. What is not said is not found. */
export class ScriptedK8s {
  readonly requests: K8sRequest[] = [];
  private readonly routes = new Map<string, K8sScript[]>();
  private readonly sockets = new Set<Socket>();
  /** Most connections at a time. */
  peak = 0;
  /** Watches that are open. */
  watches = 0;

  private constructor(
    private readonly server: Server,
    readonly url: URL,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      this.peak = Math.max(this.peak, this.sockets.size);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, reply) => void this.serve(request, reply));
  }

  static async start(): Promise<ScriptedK8s> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedK8s(server, new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  }

  /** `GET <path>` is answered so, one after the other and with the last again and again; `WATCH <path>`, a watch of it. */
  on(route: string, ...scripts: K8sScript[]): this {
    this.routes.set(route, scripts);
    return this;
  }

  reset(): this {
    this.routes.clear();
    this.requests.length = 0;
    this.peak = 0;
    return this;
  }

  seen(method: string, path = ''): K8sRequest[] {
    return this.requests.filter((one) => one.method === method && one.path.includes(path));
  }

  access(parts: Partial<K8sAccess> = {}): K8sAccess {
    return { server: this.url, namespace: NAMESPACE, authorization: `Bearer ${CANARY}`, ...parts };
  }

  client(renew?: () => Promise<K8sAccess>): K8sClient {
    return new K8sClient(this.access(), egress, renew);
  }

  link(): K8sLink {
    return new K8sLink(async () => this.access(), egress);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const method = query.get('watch') === 'true' ? 'WATCH' : (request.method ?? '');
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    const seen = { method, path, query, token, type: request.headers['content-type'] ?? '', body };
    this.requests.push(seen);
    if (method === 'WATCH') {
      this.watches += 1;
      reply.once('close', () => {
        this.watches -= 1;
      });
    }
    const scripts = this.routes.get(`${method} ${path}`) ?? [];
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    answer(request, reply, script ?? refusal(404, 'NotFound'), seen);
  }
}

function answer(request: IncomingMessage, reply: ServerResponse, script: K8sScript, seen: K8sRequest): void {
  if (script === 'hang') return;
  if (script === 'rst') {
    request.socket.resetAndDestroy();
    return;
  }
  if (typeof script === 'function') {
    script(reply, seen);
    return;
  }
  const { status = 200, body = {}, headers } = script;
  const isText = typeof body === 'string';
  reply.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  reply.end(isText ? body : JSON.stringify(body));
}
