import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type Answer, type SeenRequest, send } from '../fake-http/fake-answer.js';
import { type FaultRule, FaultScript } from '../fake-http/fake-faults.js';
import { FakeServer } from '../fake-http/fake-server.js';
import { type Access, type Acl, AclGate } from './fake-acl.js';
import { agentRoutes } from './fake-agent.js';
import { type ClusterOptions, FakeCluster } from './fake-cluster.js';
import { fileHost, fileRoutes } from './fake-file-routes.js';
import { gcRoutes } from './fake-gc-routes.js';
import type { Machine } from './fake-nodes.js';
import { Router } from './fake-router.js';
import { clusterRoutes, type Route } from './fake-routes.js';

export interface FakeNomadOptions {
  version?: string;
  acl?: Acl;
  tls?: { key: string; cert: string };
  /** Machines that run what is registered: one with much room if absent. */
  machines?: readonly Machine[];
  /** Answers of `/v1/nodes` and `/v1/allocations`, in place of what there is. */
  nodes?: readonly object[];
  allocations?: readonly object[];
  namespaces?: readonly string[];
  nodePools?: readonly string[];
  /** Connections at a time. */
  connectionLimit?: number;
  /** How long the end of an executor takes to be believed. */
  executorMs?: number;
  /** Where it listens: a free port if absent. */
  port?: number;
  /** As of a cluster. */
  gcMaxAllocs?: ClusterOptions['gcMaxAllocs'];
  randomGc?: ClusterOptions['randomGc'];
  /** Of what happens by chance. */
  seed?: number;
}

const TOO_MANY = 'Your IP is issuing too many concurrent connections, please rate limit your calls\n';

/**
 * A Nomad cluster over real HTTP: jobs are placed and run as processes of this machine, and any answer to a path can be
 * scripted. What it was not told how Nomad answers it refuses with 501, and keeps in `unknown`.
 */
export class FakeNomad {
  readonly requests: SeenRequest[] = [];
  /** Calls that the fake does not know. */
  readonly unknown: string[] = [];
  /** Connections that were taken. */
  connections = 0;
  /** The servers have no leader: what is asked of them fails. */
  isLeaderless = false;
  private readonly faults: FaultScript;
  private readonly router: Router;
  private readonly gate: AclGate;

  private constructor(
    private readonly server: FakeServer,
    private readonly options: FakeNomadOptions,
    readonly cluster: FakeCluster,
    readonly url: string,
  ) {
    this.faults = new FaultScript(options.seed);
    this.gate = new AclGate(options.acl, options.version ?? VERSION);
    this.router = new Router(routesOf(options, cluster, this.gate));
    server.connected = (socket, open) => this.connect(socket, open);
  }

  static async start(options: FakeNomadOptions = {}): Promise<FakeNomad> {
    const http = options.tls ? createTlsServer(options.tls) : createServer();
    const server = await FakeServer.listen(http, options.port);
    const cluster = new FakeCluster({ ...options, version: options.version ?? VERSION });
    const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${server.port}`;
    const fake = new FakeNomad(server, options, cluster, url);
    http.on('request', (request, reply) => void fake.serve(request, reply));
    return fake;
  }

  get port(): number {
    return this.server.port;
  }

  get ledger() {
    return this.cluster.ledger;
  }

  /** Rights that a token had to have for what was asked. */
  get rights(): ReadonlySet<string> {
    return this.gate.asked;
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
    this.unknown.length = 0;
    this.connections = 0;
  }

  /** Cuts every connection. */
  cut(): void {
    this.server.cut();
  }

  /** Is down: connections are refused, or taken and not answered. What runs runs on. */
  pause(how: 'refused' | 'hang' = 'refused'): Promise<void> {
    return this.server.pause(how);
  }

  resume(): Promise<void> {
    return this.server.resume();
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.cluster.close();
  }

  private connect(socket: Socket, open: number): void {
    this.connections += 1;
    this.ledger.connected(open);
    if (open <= (this.options.connectionLimit ?? 100)) return;
    const head = ['HTTP/1.1 429 Too Many Requests', 'Content-Type: text/plain', `Content-Length: ${TOO_MANY.length}`];
    socket.on('error', () => undefined);
    socket.end([...head, 'Connection: close', '', TOO_MANY].join('\r\n'));
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    const token = tokenOf(request);
    const gone = new AbortController();
    reply.once('close', () => gone.abort());
    const body = await bodyOf(request);
    const seen = {
      ...{ method: request.method ?? '', path, query },
      ...(token !== undefined && { token }),
      ...(body !== undefined && { body }),
    };
    if (this.server.isSilent) return;
    this.requests.push(seen);
    const answer = await this.faults.answer(seen, () => this.answerTo(seen, gone.signal));
    if (!gone.signal.aborted) await send(reply, answer);
  }

  private async answerTo(request: SeenRequest, gone: AbortSignal): Promise<Answer> {
    const { method, path, query, token } = request;
    const found = this.router.find(method, path);
    if (found === undefined) return this.refuse(`${method} ${path}`);
    if (found === 'other method') return { status: 405, body: 'Invalid method' };
    const { route, id } = found;
    this.ledger.called(route.method, route.pattern);
    const region = query.get('region') ?? 'global';
    if (region !== 'global') return { status: 500, body: 'No path to region' };
    if (this.isLeaderless && route.access !== 'Agent' && !OF_AGENT.test(path)) {
      return { status: 500, body: 'No cluster leader' };
    }
    const namespace = query.get('namespace') ?? 'default';
    const refused = this.gate.refusal(route.access, token, namespace);
    if (refused) return refused;
    const mayRead = (of: string) => this.gate.may(token, of, 'read-job');
    const answer = await route.handle({ ...request, id, namespace, mayRead, gone });
    if (typeof answer === 'object' && answer.status === 501) this.unknown.push(`${method} ${path}`);
    return answer;
  }

  private refuse(call: string): Answer {
    this.unknown.push(call);
    return { status: 501, body: `the fake does not know ${call}` };
  }
}

const VERSION = '1.6.1';
/** An agent answers these by itself. */
const OF_AGENT = /^\/v1\/(agent|regions|client)(\/|$)/;

function routesOf(options: FakeNomadOptions, cluster: FakeCluster, gate: AclGate): Route[] {
  const { version = VERSION, acl, namespaces = ['default'], nodes, allocations } = options;
  const page = (pattern: string, access: Access, body: readonly object[] | undefined): Route[] =>
    body ? [{ method: 'GET', pattern, access, handle: () => ({ status: 200, body }) }] : [];
  return [
    ...page('/v1/nodes', 'Node', nodes),
    ...page('/v1/allocations', 'any', allocations),
    ...agentRoutes({ version, acl, gate, namespaces }),
    ...fileRoutes(fileHost(cluster, gate, version)),
    ...gcRoutes(cluster),
    ...clusterRoutes(cluster, gate, namespaces),
  ];
}

/** The header of Nomad comes before the common one. */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const own = headers['x-nomad-token'];
  return typeof own === 'string' ? own.trim() : /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
}

/** JSON if it is, and nothing where there is none. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown) : undefined;
  } catch {
    return undefined;
  }
}
