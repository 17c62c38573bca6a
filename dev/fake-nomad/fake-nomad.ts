import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Acl, whyRefused } from './fake-acl.js';

/** What one request is answered with in place of the usual. */
export type Answer =
  | { status: number; body: unknown; headers?: Record<string, string> }
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
}

export interface FakeNomadOptions {
  version?: string;
  acl?: Acl;
  tls?: { key: string; cert: string };
  nodes?: readonly object[];
  allocations?: readonly object[];
  namespaces?: readonly string[];
}

const DRIP_MS = 20;

/** A Nomad agent as far as its version, ACL, nodes and allocations go, over real HTTP, with any answer to a path scripted. */
export class FakeNomad {
  readonly requests: SeenRequest[] = [];
  /** Connections that were taken. */
  connections = 0;
  private readonly scripts = new Map<string, { answer: Answer; left: number }[]>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: FakeNomadOptions,
    readonly url: string,
  ) {
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, reply) => this.serve(request, reply));
  }

  static async start(options: FakeNomadOptions = {}): Promise<FakeNomad> {
    const server = options.tls ? createTlsServer(options.tls) : createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new FakeNomad(server, options, `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The next `times` requests of a path are answered so; scripts of one path follow each other. */
  script(path: string, answer: Answer, times = Number.POSITIVE_INFINITY): void {
    const queue = this.scripts.get(path) ?? [];
    queue.push({ answer, left: times });
    this.scripts.set(path, queue);
  }

  /** Forgets scripts and what was seen. */
  reset(): void {
    this.scripts.clear();
    this.requests.length = 0;
    this.connections = 0;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(request: IncomingMessage, reply: ServerResponse): void {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    const token = request.headers['x-nomad-token'];
    const seen = { method: request.method ?? '', path, query, ...(typeof token === 'string' && { token }) };
    this.requests.push(seen);
    request.resume();
    send(reply, this.scripted(path) ?? this.answerTo(seen));
  }

  private scripted(path: string): Answer | undefined {
    const queue = this.scripts.get(path) ?? [];
    const next = queue.find(({ left }) => left > 0);
    if (!next) return undefined;
    next.left -= 1;
    return next.answer;
  }

  private answerTo(request: SeenRequest): Answer {
    const { method, path, token } = request;
    if (method !== 'GET') return { status: 405, body: 'Invalid method' };
    const { acl } = this.options;
    const refused = acl && whyRefused(acl, path, token);
    if (refused) return refused;
    const known = this.pages()[path];
    if (known !== undefined) return { status: 200, body: known };
    if (path === '/v1/acl/token/self') return tokenAnswer(acl, token);
    const [, kind, name = ''] = /^\/v1\/(namespace|acl\/policy)\/(.+)$/.exec(path) ?? [];
    if (kind === 'namespace') return this.namespaceAnswer(decodeURIComponent(name));
    if (kind === 'acl/policy') return policyAnswer(acl, decodeURIComponent(name));
    return { status: 404, body: '404 page not found' };
  }

  private pages(): Record<string, unknown> {
    const { version = '1.6.10', acl, nodes = [], allocations = [] } = this.options;
    return {
      '/v1/agent/self': {
        config: {
          Region: 'global',
          Datacenter: 'dc1',
          Version: { Version: version, VersionPrerelease: '' },
          ACL: { Enabled: acl !== undefined },
        },
        member: { Name: 'rack-1.global', Addr: '127.0.0.1', Status: 'alive', Tags: { build: version, role: 'nomad' } },
        stats: { nomad: { leader: 'true', server: 'true' } },
      },
      '/v1/agent/health': { server: { ok: true, message: 'ok' } },
      '/v1/status/leader': '127.0.0.1:4647',
      '/v1/regions': ['global'],
      '/v1/nodes': nodes,
      '/v1/allocations': allocations,
      '/v1/namespaces': this.namespaces.map((Name) => ({ Name, Description: '', Quota: '' })),
    };
  }

  private get namespaces(): readonly string[] {
    return this.options.namespaces ?? ['default'];
  }

  private namespaceAnswer(name: string): Answer {
    if (!this.namespaces.includes(name)) return { status: 404, body: 'Namespace not found' };
    return { status: 200, body: { Name: name, Description: '', Quota: '' } };
  }
}

function tokenAnswer(acl: Acl | undefined, token: string | undefined): Answer {
  if (!acl || token === undefined) return { status: 500, body: 'acl token lookup failed: missing secret id' };
  const known = acl.tokens[token];
  if (!known) return { status: 404, body: 'ACL token not found' };
  const { type = 'client', policies = [], expires = null } = known;
  const body = {
    AccessorID: token,
    Name: 'a token',
    Type: type,
    Policies: policies,
    Roles: null,
    ExpirationTime: expires,
  };
  return { status: 200, body };
}

function policyAnswer(acl: Acl | undefined, name: string): Answer {
  const rules = acl?.policies?.[name];
  return rules
    ? { status: 200, body: { Name: name, RulesJSON: rules } }
    : { status: 404, body: 'ACL policy not found' };
}

/** Objects go as JSON, text as it is, as the errors of Nomad do. */
function send(reply: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    reply.socket?.resetAndDestroy();
    return;
  }
  if (answer === 'drip' || answer === 'endless') {
    reply.writeHead(200, { 'content-type': 'application/json' });
    if (answer === 'drip') drip(reply);
    else flood(reply);
    return;
  }
  const { status, body, headers = {} } = answer;
  const isText = typeof body === 'string' && status !== 200;
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  reply.writeHead(status, { 'content-type': type, ...headers });
  reply.end(isText || headers['content-type'] ? String(body) : JSON.stringify(body));
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
