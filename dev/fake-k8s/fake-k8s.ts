import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type Answer as HttpAnswer, send } from '../fake-http/fake-answer.js';
import { type FaultRule, FaultScript } from '../fake-http/fake-faults.js';
import { FakeServer } from '../fake-http/fake-server.js';
import type { Certificates } from './certificates.js';
import type { Account, Call } from './fake-access.js';
import { FakeApi } from './fake-api.js';
import { type ClusterOptions, FakeCluster } from './fake-cluster.js';
import type { ConnectionKind } from './fake-ledger.js';
import type { LogHost } from './fake-rest.js';
import type { Seed } from './fake-seed.js';
import { type Answer, failure } from './status.js';

/** What a path does in place of the API: answer, never answer, drop the socket, or break off after a part of a body. */
export type Script = Answer | 'hang' | 'reset' | { partial: string };

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface FakeK8sOptions extends ClusterOptions {
  certificates: Certificates;
  /** By bearer token. */
  accounts: Record<string, Account>;
  /** Whom a client certificate of the authority stands for. */
  certificateAccount?: Account;
  /** Answers of what is read, in place of what there is. */
  cluster?: Seed;
  /** Where it listens: a free port if absent. */
  port?: number;
  /** Of what happens by chance. */
  seed?: number;
}

const MOST_BYTES = 3_145_728;

/**
 * A Kubernetes API over HTTPS, with the controllers behind it. Pods run where a kubelet listens to the store. Any
 * answer can be scripted.
 */
export class FakeK8s {
  readonly requests: SeenRequest[] = [];
  private readonly scripts = new Map<string, Script[]>();
  private readonly faults: FaultScript;
  private readonly api: FakeApi;

  private constructor(
    private readonly server: FakeServer,
    private readonly options: FakeK8sOptions,
    readonly cluster: FakeCluster,
  ) {
    this.faults = new FaultScript(options.seed);
    this.api = new FakeApi(cluster, options.cluster);
  }

  static async start(options: FakeK8sOptions): Promise<FakeK8s> {
    const { ca, server } = options.certificates;
    const https = createServer({ ...server, ca, requestCert: true, rejectUnauthorized: false });
    const cluster = new FakeCluster(options);
    const listening = await FakeServer.listen(https, options.port);
    listening.connected = (_socket, open) => cluster.ledger.connected(open);
    const fake = new FakeK8s(listening, options, cluster);
    https.on('request', (request, response) => void fake.serve(request, response));
    return fake;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.server.port;
  }

  get store() {
    return this.cluster.store;
  }

  get ledger() {
    return this.cluster.ledger;
  }

  /** Calls that came as far as the rights, in order. */
  get calls(): readonly Call[] {
    return this.api.calls;
  }

  /** Who reads logs; without, there is none. */
  set logs(host: LogHost) {
    this.api.logs = host;
  }

  /** `GET /version` answers so from now on: one script each time, the last one for good. */
  script(route: string, ...scripts: Script[]): void {
    this.scripts.set(route, scripts);
  }

  /** What goes wrong from now on, after what was said before. */
  fault(rule: FaultRule): void {
    this.faults.add(rule);
  }

  /** Forgets scripts, faults and what was seen. */
  reset(): void {
    this.scripts.clear();
    this.faults.clear();
    this.requests.length = 0;
    this.api.calls.length = 0;
  }

  /** Cuts every connection. */
  cut(): void {
    this.server.cut();
  }

  /** The API is down: connections are refused, or taken and not answered. What runs runs on. */
  pause(how: 'refused' | 'hang' = 'refused'): Promise<void> {
    return this.server.pause(how);
  }

  resume(): Promise<void> {
    return this.server.resume();
  }

  async close(): Promise<void> {
    this.cluster.close();
    await this.server.stop();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    const text = await textOf(request);
    if (text === undefined || this.server.isSilent) return;
    const seen = { method: request.method ?? 'GET', path, query, headers: request.headers, body: text };
    this.requests.push(seen);
    response.once('close', this.ledger.serving(connectionKind(seen)));
    const scripted = this.next(`${seen.method} ${path}`) ?? this.next('*');
    const answer = scripted
      ? fromScript(scripted)
      : await this.faults.answer(seen, async () => withType(await this.answer(request, seen, gone.signal)));
    if (!gone.signal.aborted) await send(response, withType(answer));
  }

  private next(route: string): Script | undefined {
    const scripts = this.scripts.get(route);
    return scripts && scripts.length > 1 ? scripts.shift() : scripts?.[0];
  }

  private answer(request: IncomingMessage, seen: SeenRequest, gone: AbortSignal): HttpAnswer | Promise<HttpAnswer> {
    const { accounts, certificateAccount } = this.options;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const hasCertificate = Reflect.get(request.socket, 'authorized') === true;
    const account = token === undefined ? (hasCertificate ? certificateAccount : undefined) : accounts[token];
    if (seen.body.length > MOST_BYTES) {
      return failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MOST_BYTES}`, {});
    }
    const { method, path, query, headers, body: text } = seen;
    const contentType = (headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    const isUnknown = token !== undefined && account === undefined;
    return this.api.answer(
      { method, path, query, text, body: parse(text), contentType, gone, ...(account && { account }) },
      isUnknown,
    );
  }
}

function connectionKind({ path, query }: SeenRequest): ConnectionKind {
  if (['1', 'true'].includes(query.get('watch') ?? '')) return 'watch';
  return path.endsWith('/log') ? 'log' : 'call';
}

/** The body; nothing where the connection broke before its end. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    return undefined;
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Text is sent as such, whatever its status. */
function withType(answer: HttpAnswer): HttpAnswer {
  if (typeof answer === 'string' || !('body' in answer) || typeof answer.body !== 'string') return answer;
  return { ...answer, headers: { 'content-type': 'text/plain', ...answer.headers } };
}

function fromScript(script: Script): HttpAnswer {
  if (typeof script === 'string' || !('partial' in script)) return script;
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': '1000000' },
    async *stream() {
      yield Buffer.from(script.partial);
      throw new Error('cut');
    },
  };
}
