import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { allocationName } from '../policy/naming.js';

export interface ScriptedAnswer {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** `hang` never answers, `rst` cuts the connection. */
export type Scripted = ScriptedAnswer | 'hang' | 'rst';

export interface ScriptedRequest {
  method: string;
  /** Decoded, without the query. */
  path: string;
  query: URLSearchParams;
  token: string | undefined;
  body: string;
}

export const RUN_ID = 'run_00000000000000000000000001';
export const JOB_NAME = allocationName('dep', RUN_ID, 1);
export const JOB_META = { deployment: 'dep', workspace: 'acme', run: RUN_ID, attempt: '1', case: 'c1' };
export const ALLOCATION_ID = 'aaaaaaaa-0000-4000-8000-000000000001';

export const text = (status: number, body: string): ScriptedAnswer => ({
  status,
  body,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
});

/** A list stub of an allocation whose task has begun. */
export const anAllocation = (parts: object = {}): object => ({
  ID: ALLOCATION_ID,
  NodeID: 'n1',
  NodeName: 'node-1',
  JobID: JOB_NAME,
  TaskGroup: 'case',
  DesiredStatus: 'run',
  DesiredDescription: '',
  ClientStatus: 'running',
  ClientDescription: 'Tasks are running',
  CreateIndex: 10,
  ModifyIndex: 12,
  TaskStates: { case: { State: 'running', Failed: false, Restarts: 0, StartedAt: '2026-01-01T00:00:00Z', Events: [] } },
  ...parts,
});

/** Of a task that ended by itself. */
export const exited = (code: number, details: object = {}): object => ({
  case: {
    ...{ State: 'dead', Failed: code !== 0, Restarts: 0, StartedAt: '2026-01-01T00:00:00Z' },
    Events: [
      { Type: 'Started', Details: {} },
      { Type: 'Terminated', Details: { exit_code: String(code), signal: '0', oom_killed: 'false', ...details } },
    ],
  },
});

type Route = Scripted | ((request: ScriptedRequest) => Scripted);

/** Answers as a test says, over real HTTP, and knows no more than the job of one attempt. What is not said is refused. */
export class ScriptedNomad {
  readonly requests: ScriptedRequest[] = [];
  private readonly routes = new Map<string, Route[]>();
  private readonly sockets = new Set<Socket>();
  /** Most connections at a time. */
  peak = 0;
  stdout = '';
  stderr = '';

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      this.peak = Math.max(this.peak, this.sockets.size);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, reply) => void this.serve(request, reply));
  }

  static async start(): Promise<ScriptedNomad> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedNomad(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  get connections(): number {
    return this.sockets.size;
  }

  /** A route, as `GET /v1/job/x`, is answered so, one after the other and with the last again and again. */
  on(route: string, ...answers: Route[]): this {
    this.routes.set(route, answers);
    return this;
  }

  /** The allocations of the job, as on(). */
  allocations(...lists: object[][]): this {
    return this.on(`GET /v1/job/${JOB_NAME}/allocations`, ...lists.map((body) => ({ body })));
  }

  evaluations(...lists: object[][]): this {
    return this.on(`GET /v1/job/${JOB_NAME}/evaluations`, ...lists.map((body) => ({ body })));
  }

  job(parts: object = {}): this {
    const job = { ID: JOB_NAME, Status: 'running', Stop: false, Meta: JOB_META, JobModifyIndex: 7, ...parts };
    return this.on(`GET /v1/job/${JOB_NAME}`, { body: job });
  }

  /** Forgets what was said and seen. By default there is a job whose log is what `stdout` and `stderr` say. */
  reset(): this {
    this.routes.clear();
    this.requests.length = 0;
    this.stdout = '';
    this.stderr = '';
    this.peak = this.sockets.size;
    this.on(`GET /v1/client/fs/logs/${ALLOCATION_ID}`, (request) => this.logs(request));
    this.on(`GET /v1/client/fs/ls/${ALLOCATION_ID}`, () => ({ body: this.listing() }));
    return this.job().evaluations([]).allocations([]);
  }

  seen(method: string, path: string | RegExp = /./): ScriptedRequest[] {
    return this.requests.filter(
      (one) => one.method === method && (path instanceof RegExp ? path.test(one.path) : path === one.path),
    );
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  /** As frames, from an offset. */
  logs({ query }: ScriptedRequest): Scripted {
    const bytes = Buffer.from(query.get('type') === 'stderr' ? this.stderr : this.stdout).subarray(
      Number(query.get('offset')),
    );
    const frame = { Data: bytes.toString('base64'), File: `alloc/logs/case.${query.get('type')}.0`, Offset: 0 };
    return { body: bytes.length === 0 ? '' : JSON.stringify(frame), headers: { 'content-type': 'application/json' } };
  }

  private listing(): object[] {
    const { stdout, stderr } = this;
    return Object.entries({ stdout, stderr }).map(([stream, content]) => ({
      Name: `case.${stream}.0`,
      Size: Buffer.byteLength(content),
    }));
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.url);
    const path = decodeURIComponent(pathname);
    const token = request.headers['x-nomad-token'];
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const method = request.method ?? '';
    const seen = { method, path, query, body, token: typeof token === 'string' ? token : undefined };
    this.requests.push(seen);
    const answers = this.routes.get(`${method} ${path}`) ?? [];
    const route = answers.length > 1 ? answers.shift() : answers[0];
    const answer = typeof route === 'function' ? route(seen) : route;
    if (answer === 'hang') return;
    if (answer === 'rst') {
      request.socket.resetAndDestroy();
      return;
    }
    const { status = 200, body: content, headers = {} } = answer ?? text(404, '404 page not found');
    reply.writeHead(status, { 'content-type': 'application/json', 'x-nomad-index': '5', ...headers });
    reply.end(typeof content === 'string' ? content : JSON.stringify(content));
  }
}
