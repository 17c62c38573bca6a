import type { RunJob, RunStore } from '../store/run.store.js';

/** A case is at most 1 MB, so this many take little. */
const MOST_KEPT = 32;

/** What runs are made of. It never changes, and the try that ends an attempt often follows the one that began it. */
export class JobLoader {
  private readonly kept = new Map<string, RunJob>();

  constructor(private readonly runs: Pick<RunStore, 'jobOf'>) {}

  async load(runId: string): Promise<RunJob> {
    const known = this.kept.get(runId);
    if (known) return known;
    const job = await this.runs.jobOf(runId);
    if (!job) throw new Error(`there is no run ${runId}`);
    this.kept.set(runId, job);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break;
      this.kept.delete(oldest);
    }
    return job;
  }

  forget(runId: string): void {
    this.kept.delete(runId);
  }
}
