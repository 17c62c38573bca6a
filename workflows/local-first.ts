import { isCancellation } from '@temporalio/workflow';

/**
 * One local try, which costs a single event; if it fails, the same function as a regular activity, so that a struggle
 * is visible while it happens. The function must be idempotent: the local try may have done all of its work.
 */
export async function localFirst<Result>(
  local: () => Promise<Result>,
  regular: () => Promise<Result>,
): Promise<Result> {
  try {
    return await local();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return regular();
  }
}
