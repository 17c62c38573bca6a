/** What several promises come to, in the order in which they do, for one reader. */
export class Inbox<Item> {
  private readonly settled: (() => Item)[] = [];
  private wake: (() => void) | undefined;

  /** What it comes to is taken later; if it rejects, `take` does. */
  put(pending: Promise<Item>): void {
    pending.then(
      (item) => this.push(() => item),
      (error: unknown) =>
        this.push(() => {
          throw error;
        }),
    );
  }

  /** The next one, once there is any. */
  async take(): Promise<Item> {
    for (;;) {
      const next = this.settled.shift();
      if (next) return next();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private push(settle: () => Item): void {
    this.settled.push(settle);
    this.wake?.();
  }
}
