import { setTimeout as sleep } from 'node:timers/promises';

/** Sleeps, and wakes early without an error when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
