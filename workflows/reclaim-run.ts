import { proxyActivities } from '@temporalio/workflow';
import type { AllocationActivities } from '../activities/allocation.activities.js';
import type { ScorecardActivities, Unplaced } from '../activities/scorecard.activities.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { TERMINATED } from '../policy/sweep.js';
import { caseQueue } from './messages.js';
import { CLEANUP, CONTROL } from './proxies.js';

const { settleUnplaced } = proxyActivities<ScorecardActivities>(CONTROL);

const ENDED_FROM_OUTSIDE: Unplaced = { kind: 'errored', code: TERMINATED.code, reason: TERMINATED.message };

interface Gone {
  runId: string;
  kind: RuntimeKind;
  seq?: number;
  /** How a run ends of which nothing was placed; terminated from outside unless given. */
  end?: Unplaced;
}

/** Cleans up after a case whose workflow is gone and settles its run. The lease may be freed only after this. */
export async function reclaimRun({ runId, kind, seq, end = ENDED_FROM_OUTSIDE }: Gone): Promise<void> {
  const { reclaim } = proxyActivities<AllocationActivities>({
    ...CLEANUP,
    taskQueue: caseQueue(kind),
    summary: `${kind} reclaim`,
  });
  await reclaim({ runId, seq });
  await settleUnplaced({ runId, end });
}
