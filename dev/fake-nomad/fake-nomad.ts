import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Acl, whyRefused } from './fake-acl.js';
import { type Answer, type SeenRequest, send } from './fake-answer.js';
import { type FaultRule, FaultScript } from './fake-faults.js';

export interface FakeNomadOptions {
  version?: string;
  acl?: Acl;
  tls?: { key: string; cert: string };
  nodes?: readonly object[];
  allocations?: readonly object[];
  namespaces?: readonly string[];
  /** Of what happens by chance. */
  seed?: number;
}

/** A Nomad agent as far as its version, ACL, nodes and allocations go, over real HTTP, with any answer to a path scripted. */
export class FakeNomad {
  readonly requests: SeenRequest[] = [];
  /** Connections that were taken. */
  connections = 0;
  private readonly faults: FaultScript;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: FakeNomadOptions,
    readonly url: string,
  ) {
    this.faults = new FaultScript(options.seed);
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
    this.fault({ path, fault: answer, times });
  }

  /** What goes wrong from now on, after what was said before. */
  fault(rule: FaultRule): void {
    this.faults.add(rule);
  }

  /** Forgets scripts and what was seen. */
  reset(): void {
    this.faults.clear();
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
    void this.faults.answer(seen, () => this.answerTo(seen)).then((answer) => send(reply, answer));
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
