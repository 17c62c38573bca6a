/** A reading may take this part of the time at most: what takes a second is read each 20 seconds. */
const SHARE = 20;

/**
 * What is expensive to read, read at most each `everyMs`, and less often the longer it takes. One reading at a time,
 * whoever asks; what was read last stays until the next succeeds.
 */
export class Reading {
  private running: Promise<void> | undefined;
  private triedAt = Number.NEGATIVE_INFINITY;
  private readAt = performance.now();
  durationMs = 0;

  constructor(
    readonly name: string,
    private readonly everyMs: number,
    private readonly read: () => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** How old what was read is; before the first time, for how long there has been nothing. */
  get ageMs(): number {
    return performance.now() - this.readAt;
  }

  /** Reads again if it is time. Waits for that, but not longer than `waitMs`. */
  async refresh(waitMs: number): Promise<void> {
    const isDue = performance.now() - this.triedAt >= Math.max(this.everyMs, this.durationMs * SHARE);
    if (!this.running && !isDue) return;
    this.running ??= this.attempt().finally(() => {
      this.running = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([this.running, late]).finally(() => clearTimeout(timer));
  }

  private async attempt(): Promise<void> {
    const begun = performance.now();
    try {
      await this.read();
      this.readAt = begun;
    } catch (error) {
      this.failed(error);
    } finally {
      this.triedAt = performance.now();
      this.durationMs = this.triedAt - begun;
    }
  }
}
