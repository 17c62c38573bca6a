import type { ClusterListener } from './answered-clock.js';
import { pause } from './pause.js';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;

export interface Patiently {
  signal: AbortSignal;
  listener?: ClusterListener;
  /** For how long tries begin; the one that is under way then still has its time. */
  triedMs: number;
  /** Whether the same may succeed before long. */
  isPassing(error: unknown): boolean;
  /** How long the cluster asks to be left alone, if it says. */
  restMs?(error: unknown): number | undefined;
}

/** Tries again what may pass. */
export async function patiently<Result>(
  { signal, listener, triedMs, isPassing, restMs }: Patiently,
  work: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2)) {
    let leastMs = 0;
    try {
      const result = await work();
      listener?.answered();
      return result;
    } catch (error) {
      if (isPassing(error)) listener?.failed();
      else listener?.answered();
      if (!isPassing(error) || signal.aborted || performance.now() - begun > triedMs) throw error;
      leastMs = restMs?.(error) ?? 0;
    }
    await pause(Math.max(leastMs, delayMs * (0.5 + Math.random())), signal);
  }
}
