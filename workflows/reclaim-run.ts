import { proxyActivities } from '@temporalio/workflow';
import type { AllocationActivities } from '../activities/allocation.activities.js';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { caseQueue } from './messages.js';
import { CLEANUP, CONTROL } from './proxies.js';

const { settleUnplaced } = proxyActivities<ScorecardActivities>(CONTROL);

const TERMINATED = 'its workflow was terminated from outside';

/** Cleans up after a case whose workflow is gone and settles its run. The lease may be freed only after this. */
export async function reclaimRun(gone: { runId: string; kind: RuntimeKind; seq?: number }): Promise<void> {
  const { runId, kind, seq } = gone;
  const { reclaim } = proxyActivities<AllocationActivities>({
    ...CLEANUP,
    taskQueue: caseQueue(kind),
    summary: `${kind} reclaim`,
  });
  await reclaim({ runId, seq });
  await settleUnplaced({ runId, end: { kind: 'errored', code: 'PLATFORM_TERMINATED', reason: TERMINATED } });
}
