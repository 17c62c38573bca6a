/** What happened, by the fake's own count and clock: what a proof goes by. */
export class FakeLedger {
  /** Tasks that were started, by the id of their job. */
  readonly starts = new Map<string, number>();
  /** Registrations that were taken, by the id of the job. */
  readonly registrations = new Map<string, number>();
  /** Calls, by method and pattern: `GET /v1/job/:id`. */
  readonly calls = new Map<string, number>();
  /** Ids of jobs that were to be purged. */
  readonly purges: string[] = [];
  /** Tasks that run now, and the most there ever were. */
  running = 0;
  peakRunning = 0;
  peakConnections = 0;

  started(job: string): void {
    count(this.starts, job);
    this.running += 1;
    this.peakRunning = Math.max(this.peakRunning, this.running);
  }

  ended(): void {
    this.running -= 1;
  }

  registered(job: string): void {
    count(this.registrations, job);
  }

  called(method: string, pattern: string): void {
    count(this.calls, `${method} ${pattern}`);
  }

  connected(open: number): void {
    this.peakConnections = Math.max(this.peakConnections, open);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
