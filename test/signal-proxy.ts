import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import type { Random } from './seeded.js';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;
const { workflowservice } = proto.temporal.api;

const SERVICE = '/temporal.api.workflowservice.v1.WorkflowService/';
const REQUESTS: Record<string, Codec> = {
  [`${SERVICE}SignalWorkflowExecution`]: workflowservice.v1.SignalWorkflowExecutionRequest,
  [`${SERVICE}SignalWithStartWorkflowExecution`]: workflowservice.v1.SignalWithStartWorkflowExecutionRequest,
};

interface SignalRequest {
  signalName?: string | null;
  requestId?: string | null;
}

interface Codec {
  decode(bytes: Uint8Array): SignalRequest;
  encode(request: SignalRequest): { finish(): Uint8Array };
}

/** What becomes of a signal: it is `lost` though its sender is told that it arrived, arrives `twice`, or late. */
export type Fate = 'passed' | 'lost' | 'twice' | { lateMs: number };
export type Rule = (signalName: string) => Fate;

/** Of a message before gRPC: whether it is compressed, and how long it is. */
const PREFIX_BYTES = 5;
const EMPTY_MESSAGE = Buffer.alloc(PREFIX_BYTES);

/** Signals are lost, doubled and late in so many of 100 cases each, late by 0.1 to 3 s: those that follow overtake them. */
export function unreliably(random: Random, { lost, twice, late }: Record<'lost' | 'twice' | 'late', number>): Rule {
  return () => {
    const draw = random(0, 99);
    if (draw < lost) return 'lost';
    if (draw < lost + twice) return 'twice';
    return draw < lost + twice + late ? { lateMs: random(100, 3_000) } : 'passed';
  };
}

/** Stands before the frontend of a Temporal server. Lets everything through as it comes, but signals as a rule says. */
export class SignalProxy {
  /** How many signals of a name met a fate, as `slotsGranted lost`. */
  readonly seen = new Map<string, number>();
  private readonly server = http2.createServer({ settings: { initialWindowSize: 1 << 20 } });
  private readonly sessions = new Map<http2.Http2Session, http2.ClientHttp2Session>();
  private rule: Rule = () => 'passed';

  private constructor(private readonly target: string) {
    this.server.on('session', (session) => this.join(session));
    this.server.on('stream', (stream, headers) => {
      this.take(stream, headers).catch(() => stream.close(NGHTTP2_INTERNAL_ERROR));
    });
  }

  /** `target` is `host:port`, and need not answer yet. */
  static async before(target: string): Promise<SignalProxy> {
    const proxy = new SignalProxy(`http://${target}`);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** For the signals that come from now on. */
  set(rule: Rule): void {
    this.rule = rule;
  }

  /** How many met this fate. */
  count(fate: string): number {
    return [...this.seen].reduce((sum, [name, count]) => (name.endsWith(` ${fate}`) ? sum + count : sum), 0);
  }

  close(): void {
    this.server.close();
    for (const [session, upstream] of this.sessions) {
      session.destroy();
      upstream.destroy();
    }
  }

  /** Each connection has one of its own to the server, and they end together. */
  private join(session: http2.Http2Session): void {
    const upstream = http2.connect(this.target);
    this.sessions.set(session, upstream);
    upstream.on('error', () => session.destroy());
    upstream.on('goaway', () => session.close());
    upstream.on('close', () => session.destroy());
    session.on('error', () => upstream.destroy());
    session.on('close', () => {
      this.sessions.delete(session);
      upstream.destroy();
    });
  }

  private async take(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): Promise<void> {
    stream.on('error', () => undefined);
    const codec = REQUESTS[String(headers[':path'])];
    if (!codec) return this.forward(stream, headers, (request) => stream.pipe(request));
    const body = await buffer(stream);
    const signal = decoded(codec, body);
    const fate = this.rule(signal.signalName ?? '');
    this.note(signal.signalName ?? '', fate);
    if (fate === 'lost') return confirm(stream);
    if (fate === 'twice') this.sendAgain(stream, headers, codec, signal);
    if (typeof fate === 'object') await sleep(fate.lateMs);
    this.forward(stream, headers, (request) => request.end(body));
  }

  private note(signalName: string, fate: Fate): void {
    const name = `${signalName} ${typeof fate === 'object' ? 'late' : fate}`;
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1);
  }

  /** Under another id: the server knows the one it has had. */
  private sendAgain(
    { session }: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    codec: Codec,
    signal: SignalRequest,
  ): void {
    const upstream = session && this.sessions.get(session);
    if (!upstream || upstream.closed) return;
    const request = upstream.request(headers);
    request.on('error', () => undefined);
    request.resume();
    request.end(framed(codec.encode({ ...signal, requestId: randomUUID() }).finish()));
  }

  private forward(
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    send: (request: http2.ClientHttp2Stream) => void,
  ): void {
    if (stream.destroyed) return;
    const upstream = stream.session && this.sessions.get(stream.session);
    // A caller that is told so asks again on another connection.
    if (!upstream || upstream.closed || upstream.destroyed) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    const request = upstream.request(headers);
    answerFrom(request, stream);
    stream.on('close', () => request.close(NGHTTP2_CANCEL));
    send(request);
  }
}

/** Headers, messages and trailers, or how it broke off. */
function answerFrom(request: http2.ClientHttp2Stream, stream: http2.ServerHttp2Stream): void {
  request.on('response', (headers, flags) => {
    if (stream.destroyed) return;
    const isAll = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(headers, { endStream: isAll, waitForTrailers: !isAll });
    if (!isAll) request.pipe(stream);
  });
  let trailers: http2.IncomingHttpHeaders = {};
  request.on('trailers', (last) => {
    trailers = last;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  request.on('error', () => undefined);
  request.on('close', () => {
    if (!stream.closed && request.rstCode !== 0) stream.close(request.rstCode);
  });
}

/** An empty answer, and that all went well. */
function confirm(stream: http2.ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(EMPTY_MESSAGE);
}

function decoded(codec: Codec, body: Buffer): SignalRequest {
  const message = body.subarray(PREFIX_BYTES);
  return codec.decode(body[0] === 1 ? gunzipSync(message) : message);
}

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.from(EMPTY_MESSAGE);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
