import { isCancellation, log } from '@temporalio/workflow';

/**
 * Runs beside the main flow of a workflow. Nobody awaits it, so nothing may escape: an unhandled cancellation would fail
 * the workflow task for ever.
 */
export function inBackground(task: () => Promise<void>): void {
  task().catch((error: unknown) => {
    if (!isCancellation(error)) log.warn('background task failed', { error: String(error) });
  });
}
