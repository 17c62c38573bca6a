/** Keys that are to be looked at, each once however often it was added, as soon as the soonest of its additions says. */
export class WorkQueue {
  private readonly waiting = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  private isClosed = false;

  constructor(
    private readonly handle: (key: string) => void,
    private readonly delayMs: number,
  ) {}

  add(key: string, afterMs = this.delayMs): void {
    if (this.isClosed) return;
    const at = Date.now() + afterMs;
    const waiting = this.waiting.get(key);
    if (waiting && waiting.at <= at) return;
    clearTimeout(waiting?.timer);
    const timer = setTimeout(() => this.take(key), Math.min(afterMs, LONGEST_MS));
    timer.unref();
    this.waiting.set(key, { at, timer });
  }

  close(): void {
    this.isClosed = true;
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private take(key: string): void {
    this.waiting.delete(key);
    this.handle(key);
  }
}

/** A timer that is longer would end at once. */
const LONGEST_MS = 2_147_483_647;
