import { executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { BareActivities } from './bare-worker.js';

const { nothing } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute' });

/** Runs so many bare cases, at most `width` at once. */
export async function bareWindow({ count, width }: { count: number; width: number }): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await executeChild(bareCase, { workflowId: `${workflowInfo().workflowId}.${begun}` });
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

export async function bareCase(): Promise<void> {
  await nothing();
}
