/**
 * Time by the clock of the Temporal server, epoch ms, from within an activity. Times of other tries compare with this
 * one: the clock of a worker may differ, and may be set while it runs.
 */
export function serverClock(info: { currentAttemptScheduledTimestampMs: number }): () => number {
  const begun = performance.now();
  return () => info.currentAttemptScheduledTimestampMs + performance.now() - begun;
}
