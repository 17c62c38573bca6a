import { Context } from '@temporalio/activity';

const EVERY_MS = 1_000;

/** Tells the server every second that the work goes on, and where it is; the answer is how a cancel arrives. */
export async function withHeartbeat<T>(details: () => unknown, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details()), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Cancelled by the workflow. Else the worker stops, or the server has given up on this try: another goes on. Says so of
 * regular activities only: a local one reads the same when its worker loses the workflow.
 */
export const isCancelRequested = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof Error && reason.message === 'CANCELLED';
