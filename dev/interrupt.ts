const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ctrl-C and the polite ways to end a process, as an abort signal: whoever started something stops it. */
export function onInterrupt(say: (line: string) => void): { signal: AbortSignal; restore: () => void } {
  const controller = new AbortController();
  // Whoever reads our lines may go away; what was started still has to be stopped.
  process.stdout.on('error', () => {});
  const abort = (name: NodeJS.Signals): void => {
    if (!controller.signal.aborted) say(`\n${name === 'SIGINT' ? 'interrupted' : name}: stopping everything`);
    controller.abort(new Error('interrupted'));
  };
  for (const name of SIGNALS) process.on(name, abort);
  return {
    signal: controller.signal,
    restore: () => {
      for (const name of SIGNALS) process.off(name, abort);
    },
  };
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
