import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type Account, answerRequest, type Cluster, type Question } from './api.js';
import type { Certificates } from './certificates.js';
import { type Answer, unauthorized } from './status.js';

/** What a path does in place of the API: answer, never answer, drop the socket, or break off after a part of a body. */
export type Script = Answer | 'hang' | 'reset' | { partial: string };

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface FakeK8sOptions {
  certificates: Certificates;
  cluster: Cluster;
  /** By bearer token. */
  accounts: Record<string, Account>;
  /** Whom a client certificate of the authority stands for. */
  certificateAccount?: Account;
}

/** A Kubernetes API over HTTPS, as far as it is spoken to: state that tests set, and scripts for what goes wrong. */
export class FakeK8s {
  readonly requests: SeenRequest[] = [];
  private readonly scripts = new Map<string, Script[]>();
  private readonly server: Server;

  private constructor(private readonly options: FakeK8sOptions) {
    const { ca, server } = options.certificates;
    const tls = { ...server, ca, requestCert: true, rejectUnauthorized: false };
    this.server = createServer(tls, (request, response) => void this.serve(request, response));
  }

  static async start(options: FakeK8sOptions): Promise<FakeK8s> {
    const fake = new FakeK8s(options);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get port(): number {
    const address = this.server.address();
    return address && typeof address !== 'string' ? address.port : 0;
  }

  /** `GET /version` answers so from now on: one script each time, the last one for good. */
  script(route: string, ...scripts: Script[]): void {
    this.scripts.set(route, scripts);
  }

  /** Forgets scripts and requests. */
  reset(): void {
    this.scripts.clear();
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const seen = { method: request.method ?? 'GET', path: pathname, query: searchParams, headers: request.headers };
    const body = Buffer.concat(chunks).toString('utf8');
    this.requests.push({ ...seen, body });
    const scripted = this.next(`${seen.method} ${pathname}`) ?? this.next('*');
    send(request, response, scripted ?? this.answer(request, { ...seen, body: parse(body) }));
  }

  private next(route: string): Script | undefined {
    const scripts = this.scripts.get(route);
    return scripts && scripts.length > 1 ? scripts.shift() : scripts?.[0];
  }

  private answer(request: IncomingMessage, question: Omit<Question, 'account'>): Answer {
    const { accounts, certificateAccount, cluster } = this.options;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const hasCertificate = Reflect.get(request.socket, 'authorized') === true;
    const account = token === undefined ? (hasCertificate ? certificateAccount : undefined) : accounts[token];
    if (token !== undefined && account === undefined) return unauthorized();
    return answerRequest(cluster, { ...question, account });
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function send(request: IncomingMessage, response: ServerResponse, script: Script): void {
  if (script === 'hang') return;
  if (script === 'reset') {
    request.socket.destroy();
    return;
  }
  if ('partial' in script) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000000' });
    response.write(script.partial, () => request.socket.destroy());
    return;
  }
  const { status, body, headers } = script;
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
