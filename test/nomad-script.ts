import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, send } from '../dev/fake-http/fake-answer.js';

/** What Nomad answers about one job, whatever becomes of it. */
export interface Script {
  /** Its allocations, look by look; the last stay until it is stopped. */
  allocations?: readonly (readonly object[])[];
  evaluations?: readonly object[];
  /** What reading stdout gives, read by read; the last stays. Text is a log, served from the offset that is asked for. */
  logs?: readonly (string | Answer)[];
  /** Of listings of the log; by default what the last text of `logs` has. */
  files?: Answer;
  /** To be registered, read and deregistered. */
  register?: Answer;
  read?: Answer;
  deregister?: Answer;
  /** The list of its allocations, in place of them. */
  list?: Answer;
  /** In place of the first answers about it, one each. */
  faults?: Answer[];
}

export interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string | undefined;
  body: string;
}

interface Known {
  script: Script;
  document: { ID: string; Meta?: object } | undefined;
  looks: number;
  reads: number;
  isStopped: boolean;
}

interface Listed {
  ID: string;
  ClientStatus: string;
}

const LIVE = ['pending', 'running', 'unknown'];
const HOLD_MS = 20;

/** Answers as one was told, job by job, over real HTTP; and keeps what it was asked. */
export class ScriptedCases {
  readonly requests: Request[] = [];
  /** Connections at a time, now and at most. */
  readonly connections = { now: 0, peak: 0 };
  private readonly jobs = new Map<string, Known>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, reply) => void this.serve(request, reply));
    server.on('connection', (socket) => {
      const { connections } = this;
      connections.now += 1;
      connections.peak = Math.max(connections.peak, connections.now);
      socket.once('close', () => {
        connections.now -= 1;
      });
    });
  }

  static async start(): Promise<ScriptedCases> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedCases(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  script(name: string, script: Script, document?: Known['document']): void {
    this.jobs.set(name, { script, document, looks: 0, reads: 0, isStopped: false });
  }

  /** What was asked about one job, or an allocation of it. */
  about(name: string): Request[] {
    const { allocations = [] } = this.jobs.get(name)?.script ?? {};
    const ids = allocations.flat().map((allocation) => (allocation as Listed).ID);
    return this.requests.filter(({ path, body }) =>
      [name, ...ids].some((id) => path.split('/').includes(id) || (path === '/v1/jobs' && body.includes(`"${id}"`))),
    );
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const token = request.headers['x-nomad-token'];
    const seen = {
      ...{ method: request.method ?? '', path, query, body: Buffer.concat(chunks).toString('utf8') },
      token: typeof token === 'string' ? token : undefined,
    };
    this.requests.push(seen);
    await send(reply, await this.answerTo(seen, reply));
  }

  private async answerTo({ method, path, query, body }: Request, reply: ServerResponse): Promise<Answer> {
    const [, , kind = '', name = '', ...rest] = path.split('/').map(decodeURIComponent);
    const fault = this.jobs.get(name)?.script.faults?.shift();
    if (fault) return fault;
    if (kind === 'jobs' && method === 'PUT') return this.register(JSON.parse(body).Job);
    if (kind === 'agent') return ok({ config: { Version: { Version: '1.6.1' } } });
    if (kind === 'nodes') return { status: 403, body: 'Permission denied' };
    if (kind === 'job') return this.job(method, name, rest[0], query, reply);
    if (kind === 'allocation') {
      const found = this.all().find(({ ID }) => ID === name);
      return found ? ok(found) : { status: 404, body: 'alloc not found' };
    }
    if (kind === 'client') return this.files(rest[0] ?? '', rest[1] ?? '', query);
    return { status: 404, body: 'nothing is scripted' };
  }

  private register(document: { ID: string }): Answer {
    const job = this.jobs.get(document.ID);
    if (!job) return { status: 500, body: `nothing is scripted for ${document.ID}` };
    if (job.script.register) return job.script.register;
    if (job.document) return { status: 500, body: 'Enforcing job modify index 0: job already exists' };
    job.document = document;
    return ok({ EvalID: 'e1', EvalCreateIndex: 1, JobModifyIndex: 1 });
  }

  private async job(
    method: string,
    name: string,
    part: string | undefined,
    query: URLSearchParams,
    reply: ServerResponse,
  ): Promise<Answer> {
    const job = this.jobs.get(name);
    if (part === 'allocations') return job?.script.list ?? this.list(job, query, reply);
    if (part === 'evaluations') return ok(job?.script.evaluations ?? []);
    if (method === 'DELETE') {
      if (job?.script.deregister) return job.script.deregister;
      if (job) job.isStopped = true;
      return ok({ EvalID: 'e9' });
    }
    if (job?.script.read) return job.script.read;
    if (!job?.document) return { status: 404, body: 'job not found' };
    const isLive = this.allocationsOf(job).some(({ ClientStatus }) => LIVE.includes(ClientStatus));
    const isQueued = this.allocationsOf(job).length === 0;
    const Status = job.isStopped ? 'dead' : isQueued ? 'pending' : isLive ? 'running' : 'dead';
    return ok({ ...job.document, Status, Stop: job.isStopped, JobModifyIndex: 1 });
  }

  /** A look that waits for a change is held while there is none. */
  private async list(job: Known | undefined, query: URLSearchParams, reply: ServerResponse): Promise<Answer> {
    const index = Number(query.get('index') ?? 0);
    const until = performance.now() + 1_000 * (Number.parseFloat(query.get('wait') ?? '0') || 0);
    while (job && index >= indexOf(job) && performance.now() < until && !reply.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
    }
    const body = job ? this.allocationsOf(job) : [];
    const headers = { 'x-nomad-index': String(job ? indexOf(job) : 1), 'content-type': 'application/json' };
    if (job) job.looks = Math.min(job.looks + 1, (job.script.allocations ?? []).length - 1);
    return { status: 200, body: JSON.stringify(body), headers };
  }

  private files(verb: string, allocation: string, query: URLSearchParams): Answer {
    const job = [...this.jobs.values()].find(({ script }) =>
      (script.allocations ?? []).flat().some((listed) => (listed as Listed).ID === allocation),
    );
    if (!job) return { status: 404, body: `Unknown allocation "${allocation}"` };
    const { logs = [], files } = job.script;
    if (verb !== 'logs') return files ?? ok([{ Name: 'case.stdout.0', Size: sizeOf(logs) }]);
    if (query.get('type') !== 'stdout') return frame('', 0);
    const log = logs[Math.min(job.reads, logs.length - 1)] ?? '';
    job.reads += 1;
    return typeof log === 'string' ? frame(log, Number(query.get('offset') ?? 0)) : log;
  }

  private allocationsOf({ script, looks, isStopped }: Known): Listed[] {
    const steps = script.allocations ?? [];
    const listed = (steps[Math.max(0, looks)] ?? []) as Listed[];
    const stopped = { DesiredStatus: 'stop', DesiredDescription: 'alloc not needed due to job update' };
    return listed.map((allocation) =>
      isStopped && LIVE.includes(allocation.ClientStatus)
        ? { ...allocation, ...stopped, ClientStatus: 'complete' }
        : allocation,
    );
  }

  private all(): Listed[] {
    return [...this.jobs.values()].flatMap((job) => this.allocationsOf(job));
  }
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

/** Grows with each step, and with the stop. */
const indexOf = ({ looks, isStopped }: Known): number => 10 + Math.max(0, looks) + (isStopped ? 1_000 : 0);

const sizeOf = (logs: readonly (string | Answer)[]): number =>
  Buffer.byteLength(logs.findLast((log) => typeof log === 'string') ?? '');

export const logFrame = (text: string | Buffer, offset: number, index = 0): string =>
  JSON.stringify({
    Data: Buffer.from(text).toString('base64'),
    File: `alloc/logs/case.stdout.${index}`,
    Offset: offset,
  });

export const frames = (...texts: string[]): Answer => ({
  status: 200,
  body: texts.join(''),
  headers: { 'content-type': 'application/json' },
});

function frame(log: string, offset: number): Answer {
  const bytes = Buffer.from(log).subarray(offset);
  if (bytes.length === 0) return frames('{}');
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) {
    const piece = bytes.subarray(at, at + 65_536);
    pieces.push(logFrame(piece, offset + at + piece.length));
  }
  return frames(...pieces);
}
