import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;
const SAY_EACH_MS = 5_000;

interface Waiting {
  log: { warn(message: string, fields: object): void };
  /** Gives up. */
  signal?: AbortSignal;
  /** Whether waiting does not mend a failure: it is thrown. */
  isFinal?: (error: unknown) => boolean;
}

/** Repeats `work` until it holds, and says now and then what is waited for. */
export async function patiently<T>(
  what: string,
  { log, signal, isFinal }: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  for (let saidAt = 0; ; ) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (isFinal?.(error)) throw error;
      if (performance.now() - saidAt > SAY_EACH_MS || saidAt === 0) {
        saidAt = performance.now();
        log.warn(`waiting for ${what}`, { error: error instanceof Error ? error.message : String(error) });
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
