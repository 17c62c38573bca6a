import { pause } from '../pause.js';

/** Of the time that reading takes, so many times as much is left to everything else. */
const REST = 3;

/**
 * Shares reading among jobs that print more than is kept: together they get a quarter of the time, however many they
 * are and however fast they print.
 */
export class ReadingTurns {
  private restsUntil = 0;

  /** To be awaited after each piece; `sinceMs` is when the work on it began. */
  async rest(sinceMs: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    this.restsUntil = Math.max(this.restsUntil, now) + REST * (now - sinceMs);
    await pause(this.restsUntil - now, signal);
  }
}
