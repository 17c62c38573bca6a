/** Wakes all who wait at the same moments, so that they can share what they then read. Rests while nobody waits. */
export class Pulse {
  private waiting: (() => void)[] = [];

  constructor(private readonly everyMs: number) {}

  /** Resolves with the next beat, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      if (this.waiting.length === 0) setTimeout(() => this.beat(), this.everyMs).unref();
      this.waiting.push(wake);
    });
  }

  private beat(): void {
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) wake();
  }
}
