import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Credential, fixedCredential } from './credential.js';
import { parseEvents, type ServerEvent } from './event-parser.js';
import { EXIT } from './exit-codes.js';
import { CliError, refused, unreachable } from './failures.js';
import { fetchFailure } from './foreign-errors.js';
import { Silence } from './silence.js';
import { Problem } from './wire.js';

/** How long one call may take; of what is streamed either way, how long nothing of it may move. */
const CALL_TIMEOUT_MS = 60_000;

/** A body that is read as fast as the platform takes it. */
export interface StreamedBody {
  type: string;
  length: number;
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** A platform that asks for patience gets it so many times, and no longer than this at a time. */
const MOST_WAITS = 5;
const LONGEST_WAIT_SEC = 30;

const EVENT_STREAM = 'text/event-stream';
/** The platform says something at least every 15 s. */
const EVENT_SILENCE_MS = 45_000;

interface Wanted {
  silenceMs: number;
  /** Refuses an answer of another type. */
  type?: string;
  signal?: AbortSignal;
}

export interface Call {
  query?: Record<string, string | number | readonly string[] | undefined>;
  body?: { type: string; bytes: string | Uint8Array<ArrayBuffer> } | StreamedBody;
  headers?: Record<string, string>;
}

/** The parsed answer, and the answer as it came for those who pass it on. */
interface Received<Reply> {
  reply: Reply;
  raw: unknown;
  headers: Headers;
}

export const jsonBody = (value: unknown): { type: string; bytes: string } => ({
  type: 'application/json',
  bytes: JSON.stringify(value),
});

/** Speaks to the platform's HTTP API. Every failure is a `CliError` that names the next step. */
export class HttpClient {
  /** Where the platform is, without a slash at the end. */
  readonly url: string;

  constructor(
    url: string,
    private readonly limitMs = CALL_TIMEOUT_MS,
    private readonly sleep: (ms: number) => Promise<unknown> = delay,
    /** Sent with every call. */
    private readonly always: Readonly<Record<string, string>> = {},
    private readonly credential: Credential = fixedCredential(undefined),
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  async get<Reply>(path: string, schema: z.ZodType<Reply>, call: Call = {}): Promise<Received<Reply>> {
    return this.send('GET', path, schema, call);
  }

  async post<Reply>(path: string, schema: z.ZodType<Reply>, call: Call = {}): Promise<Received<Reply>> {
    return this.send('POST', path, schema, call);
  }

  async put<Reply>(path: string, schema: z.ZodType<Reply>, call: Call = {}): Promise<Received<Reply>> {
    return this.send('PUT', path, schema, call);
  }

  async patch<Reply>(path: string, schema: z.ZodType<Reply>, call: Call = {}): Promise<{ reply: Reply; raw: unknown }> {
    return this.send('PATCH', path, schema, call);
  }

  /** For routes that answer with what is gone. */
  async delete<Reply>(
    path: string,
    schema: z.ZodType<Reply>,
    call: Call = {},
  ): Promise<{ reply: Reply; raw: unknown }> {
    return this.send('DELETE', path, schema, call);
  }

  /** For routes that answer with nothing but their success. */
  async remove(path: string, call: Call = {}): Promise<void> {
    const response = await this.fetch('DELETE', path, call);
    if (!response.ok) throw refused(response.status, Problem.safeParse(await this.read(response)).data ?? {});
    await response.arrayBuffer();
  }

  /** The bytes of an answer, as they arrive, for as long as they do. */
  stream(path: string, call: Call = {}, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.pieces(path, call, { silenceMs: this.limitMs, ...(signal && { signal }) });
  }

  /** The events of a stream until it ends or drops. A platform that is silent for too long counts as gone. */
  events(path: string, call: Call, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    return parseEvents(this.pieces(path, call, { silenceMs: EVENT_SILENCE_MS, type: EVENT_STREAM, signal }));
  }

  private async *pieces(path: string, call: Call, { silenceMs, type, signal }: Wanted): AsyncGenerator<Uint8Array> {
    const silence = new Silence(silenceMs);
    const headers = { ...call.headers, ...(type && { accept: type }) };
    const signals = [silence.signal, ...(signal ? [signal] : [])];
    try {
      const response = await this.fetch('GET', path, { ...call, headers }, AbortSignal.any(signals));
      if (!response.ok) throw refused(response.status, Problem.safeParse(await this.read(response)).data ?? {});
      if (type && !response.headers.get('content-type')?.startsWith(type)) {
        throw new CliError(EXIT.refused, `${path} is no stream of events`);
      }
      if (response.body) yield* silence.within(response.body);
    } catch (error) {
      throw error instanceof CliError ? error : unreachable(this.url, fetchFailure(error), error);
    } finally {
      silence.end();
    }
  }

  private async send<Reply>(method: string, path: string, schema: z.ZodType<Reply>, call: Call) {
    const response = await this.fetch(method, path, call);
    const raw = await this.read(response);
    if (!response.ok) throw refused(response.status, Problem.safeParse(raw).data ?? {});
    const parsed = schema.safeParse(raw);
    if (parsed.success) return { reply: parsed.data, raw, headers: response.headers };
    throw this.foreign(response, z.prettifyError(parsed.error));
  }

  /**
   * Comes back when the platform says so, where it was asked too often, and once with another credential where there is
   * one. A streamed body is gone once it was refused.
   */
  private async fetch(method: string, path: string, call: Call, signal?: AbortSignal): Promise<Response> {
    let isRenewed = false;
    for (let waits = 0; ; ) {
      const response = await this.fetchOnce(method, path, call, signal);
      if (call.body && 'chunks' in call.body) return response;
      if (response.status === 401 && !isRenewed) {
        isRenewed = true;
        if (!(await this.credential.renew())) return response;
        await response.body?.cancel();
        continue;
      }
      const waitSec = retryAfterOf(response);
      if (waitSec === undefined || waits === MOST_WAITS) return response;
      waits += 1;
      await response.body?.cancel();
      await this.sleep(waitSec * 1_000);
      signal?.throwIfAborted();
    }
  }

  private async fetchOnce(
    method: string,
    path: string,
    { query = {}, body, headers: own = {} }: Call,
    signal?: AbortSignal,
  ): Promise<Response> {
    const token = await this.credential.token();
    const headers = { ...this.always, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...own };
    const init: RequestInit = {
      method,
      headers,
      redirect: 'manual',
      ...bodyOf(body, headers, this.limitMs),
      ...(signal && { signal }),
    };
    try {
      return await fetch(`${this.url}${path}${queryString(query)}`, init);
    } catch (error) {
      throw unreachable(this.url, fetchFailure(error), error);
    }
  }

  private async read(response: Response): Promise<unknown> {
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw unreachable(this.url, fetchFailure(error), error);
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.foreign(response, `not JSON but ${response.headers.get('content-type') ?? 'nothing'}`, error);
    }
  }

  private foreign(response: Response, what: string, cause?: unknown): CliError {
    return unreachable(this.url, `it answered ${response.status} with something else: ${what}`, cause);
  }
}

/** Of a refusal that asks for a short wait. */
function retryAfterOf({ status, headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return status === 429 && seconds >= 0 && seconds <= LONGEST_WAIT_SEC ? seconds : undefined;
}

function bodyOf(
  body: Call['body'],
  headers: Record<string, string>,
  limitMs: number,
): RequestInit & { duplex?: 'half' } {
  if (!body) return { signal: AbortSignal.timeout(limitMs) };
  const typed = { ...headers, 'content-type': body.type };
  if ('bytes' in body) return { body: body.bytes, headers: typed, signal: AbortSignal.timeout(limitMs) };
  const silence = new Silence(limitMs);
  const length = { 'content-length': String(body.length) };
  return {
    body: taken(body.chunks, silence),
    headers: { ...typed, ...length },
    signal: silence.signal,
    duplex: 'half',
  };
}

/** A stream of the chunks; each one that is taken is a word of the other side. */
function taken(chunks: StreamedBody['chunks'], silence: Silence): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        silence.wait();
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

function queryString(query: NonNullable<Call['query']>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  return search.size > 0 ? `?${search}` : '';
}
