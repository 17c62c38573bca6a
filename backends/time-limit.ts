/**
 * Runs `work` under a signal that aborts with the one given, or when the time is up. Not `AbortSignal.any`: what it makes
 * of a timer may be collected before the timer fires.
 */
export async function withTimeLimit<T>(
  signal: AbortSignal,
  limitMs: number,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => controller.abort(), Math.max(0, limitMs));
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Waits no longer for work that cannot be told to stop; what becomes of it after that is nobody's concern. */
export async function within<T>(limitMs: number, work: Promise<T>, failure: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
