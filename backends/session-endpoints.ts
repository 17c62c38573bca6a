import { request } from 'undici';
import { networkFailure, redirectFailure } from './cluster-failures.js';
import type { Egress } from './egress/guard.js';

const WITHIN_MS = 5_000;
const MOST_BYTES = 64 * 1_024;
/** So long an answer is good for whoever asks. */
const KEPT_MS = 3_000;

/** JSON that an endpoint answered, or why it did not; the reason is ours, and safe to show. */
type EndpointReply = { body: unknown } | { failure: string };

/** A reply, and when it was asked for, by `performance.now()`. */
export interface EndpointReading {
  at: number;
  reply: EndpointReply;
}

interface Asked {
  /** By `performance.now()`; while it is under way, for ever. */
  goodUntil: number;
  reading: Promise<EndpointReading>;
}

/** Asks the endpoints of live session pools, each at most once in three seconds, however many runtimes it serves. */
export class SessionEndpoints {
  private readonly asked = new Map<string, Asked>();

  constructor(private readonly egress: Pick<Egress, 'dispatcher'>) {}

  /** Never throws. */
  read(url: string): Promise<EndpointReading> {
    const at = performance.now();
    for (const [known, { goodUntil }] of this.asked) if (goodUntil <= at) this.asked.delete(known);
    const recent = this.asked.get(url);
    if (recent) return recent.reading;
    const asked: Asked = {
      goodUntil: Number.POSITIVE_INFINITY,
      reading: this.ask(url).then((reply) => {
        asked.goodUntil = performance.now() + KEPT_MS;
        return { at, reply };
      }),
    };
    this.asked.set(url, asked);
    return asked.reading;
  }

  private async ask(url: string): Promise<EndpointReply> {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const dispatcher = this.egress.dispatcher({
      ...{ connections: 1, connectTimeoutMs: WITHIN_MS, silenceMs: WITHIN_MS, mostBytes: MOST_BYTES },
    });
    try {
      const headers = { accept: 'application/json', 'user-agent': 'everdict' };
      const { statusCode: status, headers: said, body } = await request(url, { dispatcher, signal, headers });
      if (status >= 200 && status < 300) return jsonReply(await body.text());
      body.on('error', () => undefined).destroy();
      const isRedirect = status >= 300 && status < 400;
      return { failure: isRedirect ? redirectFailure(said.location, new URL(url)).message : `it answers ${status}` };
    } catch (error) {
      return { failure: networkFailure(error, signal).message };
    } finally {
      await dispatcher.destroy();
    }
  }
}

function jsonReply(text: string): EndpointReply {
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { failure: 'it answers something that is no JSON' };
  }
}
