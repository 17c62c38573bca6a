import type { Attempt } from '../store/attempt-row.js';

/** An answer is at most some hundred KB, so this many take little. */
const MOST_KEPT = 32;

/**
 * Attempts that ended in this process, for the `finish` that follows: what their row says of the end changes no more.
 * Each is handed out once, so a repeated `finish` reads the database.
 */
export class EndedAttempts {
  private readonly kept = new Map<string, Attempt>();

  keep(attempt: Attempt): void {
    this.kept.set(keyOf(attempt), attempt);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break;
      this.kept.delete(oldest);
    }
  }

  take(id: { runId: string; attempt: number }): Attempt | undefined {
    const attempt = this.kept.get(keyOf(id));
    this.kept.delete(keyOf(id));
    return attempt;
  }
}

const keyOf = ({ runId, attempt }: { runId: string; attempt: number }): string => `${runId}/${attempt}`;
