import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for something to become true; what is awaited stands in the error. */
export async function eventually<T>(
  what: string,
  read: () => Promise<T | undefined | false>,
  withinMs = 30_000,
): Promise<T> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; await sleep(25)) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
  }
  throw new Error(`not within ${withinMs} ms: ${what}`);
}
