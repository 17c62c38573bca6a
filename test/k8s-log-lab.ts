import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Egress } from '../backends/egress/guard.js';
import { K8sClient } from '../backends/k8s/k8s.client.js';
import { K8sLog, type K8sLogOptions, type LogRead } from '../backends/k8s/k8s.log.js';
import type { LogEnd, LogPatience } from '../backends/log-reading.js';
import { parseAllowList } from '../policy/addresses.js';
import { KubeletLog } from './kubelet-log.js';

/** What becomes of an answer after so many bytes: its node says something, and it ends, breaks off, or falls silent. */
export interface Cut {
  after: number;
  how: 'end' | 'drop' | 'hang';
  says?: string;
}

/** In place of the log. */
export interface Said {
  status: number;
  body?: string | object;
  type?: string;
}

export const statusOf = (status: number, message: string, reason?: string, details?: object): Said => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code: status },
});

export const noNode = statusOf(500, 'Get "https://10.0.0.9:10250/containerLogs/evals/p/main": dial tcp: i/o timeout');
export const noPod = statusOf(404, 'pods "p" not found', 'NotFound', { name: 'p', kind: 'pods' });

const SEC = 1_000_000_000n;
export const NOW = 1_796_043_525n * SEC;

export const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('');

export const QUICK: LogPatience = { firstMs: 1, longestMs: 1, tries: 5 };

/** One container of one pod, whose log a test writes, on an API server that answers over HTTP. */
export class K8sLogLab {
  log = new KubeletLog();
  /** Query of each request. */
  readonly asked: URLSearchParams[] = [];
  /** What is done before a request is answered. */
  beforeEach: (() => void) | undefined;
  private readonly next: (Cut | Said)[] = [];
  private always: Said | undefined;
  private isEnded = false;
  private follows: (() => void)[] = [];
  private last: ServerResponse | undefined;
  private readonly server = createServer((request, reply) => this.serve(request, reply));
  private client: K8sClient | undefined;

  static async start(): Promise<K8sLogLab> {
    const lab = new K8sLogLab();
    lab.server.listen(0, '127.0.0.1');
    await once(lab.server, 'listening');
    const server = new URL(`http://127.0.0.1:${(lab.server.address() as AddressInfo).port}`);
    lab.client = new K8sClient({ server, namespace: 'evals' }, new Egress(parseAllowList('127.0.0.0/8').rules));
    return lab;
  }

  async stop(): Promise<void> {
    await this.client?.close();
    this.server.closeAllConnections();
    this.server.close();
  }

  /** As after its start: nothing printed, nothing wrong. */
  clear(entryBytes?: number): void {
    this.log = new KubeletLog(entryBytes);
    this.asked.length = 0;
    this.next.length = 0;
    this.always = undefined;
    this.beforeEach = undefined;
    this.isEnded = false;
    this.follows = [];
  }

  reader(from = 0, more: Partial<K8sLogOptions> = {}): K8sLog {
    if (!this.client) throw new Error('it was not started');
    return new K8sLog({ client: this.client, namespace: 'evals', pod: 'p', container: 'main', from, ...more });
  }

  /** The next requests meet these, in order. */
  meets(...answers: (Cut | Said)[]): void {
    this.next.push(...answers);
  }

  /** All requests from now on are answered so; with nothing: as they are. */
  answers(said: Said | undefined): void {
    this.always = said;
  }

  print(text: string | Buffer, ns: bigint): void {
    this.log.print(text, ns);
    this.wake();
  }

  /** Numbered lines, one a millisecond. */
  lines(from: number, to: number): void {
    for (let index = from; index < to; index += 1) this.print(`line ${index}\n`, NOW + BigInt(index) * (SEC / 1_000n));
  }

  /** The container ends, and with it whatever follows its log. */
  end(): void {
    this.isEnded = true;
    this.wake();
  }

  /** What was answered last, as far as nobody took it yet. */
  get waitingBytes(): number {
    return this.last?.writableLength ?? 0;
  }

  /** What goes on is broken off. */
  cut(): void {
    this.server.closeAllConnections();
  }

  private wake(): void {
    for (const follow of this.follows.splice(0)) follow();
  }

  private serve(request: IncomingMessage, reply: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '/', 'http://k8s.test');
    this.asked.push(searchParams);
    this.last = reply;
    this.beforeEach?.();
    reply.on('error', () => undefined);
    const met = this.next.shift() ?? this.always;
    if (met && 'status' in met) this.say(reply, met);
    else this.send(reply, searchParams, met).catch(() => reply.destroy());
  }

  private say(reply: ServerResponse, { status, body, type: said }: Said): void {
    const isText = typeof body === 'string';
    const type = said ?? (isText ? 'text/plain' : 'application/json');
    reply.writeHead(status, body === undefined ? {} : { 'content-type': type });
    reply.end(isText ? body : body && JSON.stringify(body));
  }

  private async send(reply: ServerResponse, query: URLSearchParams, cut: Cut | undefined): Promise<void> {
    const { log } = this;
    const tailLines = query.has('tailLines') ? Number(query.get('tailLines')) : undefined;
    const asked = { sinceTime: query.get('sinceTime'), tailLines };
    reply.writeHead(200, { 'content-type': 'text/plain' });
    reply.flushHeaders();
    let left = cut?.after ?? Number.POSITIVE_INFINITY;
    for (let first = log.first(asked), isFirst = true; ; isFirst = false) {
      const bytes = log.from(first, asked, isFirst || log.isLineStart(first));
      first = log.length;
      reply.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0 && cut) return this.cutOff(reply, cut);
      if (query.get('follow') !== 'true' || (this.isEnded && first === log.length)) break;
      await new Promise<void>((resolve) => this.follows.push(resolve));
    }
    if (cut) this.cutOff(reply, cut);
    else reply.end();
  }

  private cutOff(reply: ServerResponse, { how, says }: Cut): void {
    const cut = (): unknown => (how === 'end' ? reply.end() : how === 'drop' && reply.destroy());
    if (says === undefined) setImmediate(cut);
    else reply.write(says, cut);
  }
}

/** What a reader told, by offset, and what became of the log. */
export class Told {
  readonly pieces: { at: number; text: string }[] = [];
  readonly troubles: Exclude<LogRead, { kind: 'bytes' }>[] = [];
  mark: { at: number; mark: string } | undefined;

  take(read: LogRead): void {
    if (read.kind !== 'bytes') {
      this.troubles.push(read);
      return;
    }
    const text = Buffer.from(read.bytes).toString('latin1');
    const last = this.pieces.at(-1);
    if (last && last.at + last.text.length === read.at) last.text += text;
    else this.pieces.push({ at: read.at, text });
    if (read.mark) this.mark = read.mark;
  }

  /** All of it, where nothing is missing. */
  get text(): string {
    const [only, ...others] = this.pieces;
    if (others.length > 0 || (only && only.at !== 0)) throw new Error(`it has gaps: ${JSON.stringify(this.pieces)}`);
    return only?.text ?? '';
  }

  /** Offset up to which something was told. */
  get end(): number {
    const last = this.pieces.at(-1);
    return last ? last.at + last.text.length : 0;
  }

  async follow(log: K8sLog, signal = new AbortController().signal, silentMs?: number): Promise<this> {
    for await (const read of log.follow(signal, silentMs)) this.take(read);
    return this;
  }

  async finish(log: K8sLog, signal = new AbortController().signal, patience = QUICK): Promise<LogEnd> {
    const parts = log.finish(signal, patience);
    for (;;) {
      const part = await parts.next();
      if (part.done) return part.value;
      this.take(part.value);
    }
  }
}
