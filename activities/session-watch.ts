import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointReading } from '../backends/session-endpoints.js';
import type { SessionAnswer, SessionRead } from '../contracts/admission.js';
import type { SessionCapacity } from '../contracts/harness.js';
import { isEqualJson } from '../policy/json-path.js';
import { sessionAnswer } from '../policy/session-answer.js';

/** A session pool with its endpoint, as far as anybody says where it is, and what it said last. */
export interface Watched {
  pool: string;
  endpoint?: SessionCapacity;
  known?: SessionAnswer;
}

const EVERY_MS = 3_000;
/** What several pools say at about the same time is told at once. */
const GATHER_MS = 200;

/** Asks session pools again and again, each at its own pace: one that does not answer keeps no other waiting. */
export class SessionWatch {
  private readonly latest = new Map<string, SessionRead>();

  constructor(
    private readonly read: (url: string) => Promise<EndpointReading>,
    /** Epoch ms, by the server. */
    private readonly clock: () => number,
  ) {}

  /** Until one says something new or patience ends: what each of them said last. */
  async next(pools: readonly Watched[], patienceMs: number, cancel: AbortSignal): Promise<SessionRead[]> {
    const end = new AbortController();
    const stop = AbortSignal.any([end.signal, cancel]);
    try {
      const changes = pools.flatMap((watched) => {
        if (watched.endpoint) return this.change(watched, watched.endpoint, stop);
        this.latest.set(watched.pool, { pool: watched.pool, at: Math.round(this.clock()) });
        return [];
      });
      await Promise.race([pause(patienceMs, stop), ...changes]);
      await Promise.race([pause(GATHER_MS, stop), Promise.all(changes)]);
    } finally {
      end.abort();
    }
    cancel.throwIfAborted();
    return [...this.latest.values()];
  }

  private async change({ pool, known }: Watched, endpoint: SessionCapacity, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const { at, reply } = await this.read(endpoint.poll);
      if (stop.aborted) return;
      const answer = 'failure' in reply ? reply : sessionAnswer(reply.body, endpoint);
      this.latest.set(pool, { pool, at: Math.round(this.clock() - (performance.now() - at)), answer });
      if (!known || !isEqualJson(answer, known)) return;
      await pause(EVERY_MS, stop);
    }
  }
}

/** Ends early when it is told to stop. */
const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: stop }).catch(() => undefined);
