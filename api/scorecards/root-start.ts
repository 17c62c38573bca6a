import type { ScorecardView } from '../../contracts/scorecard.js';
import type { ScorecardStore } from '../../store/scorecard.store.js';
import type { WorkflowClient } from '../common/workflow.client.js';

/** Has Temporal run a scorecard that is stored. */
export function startRoot(
  workflows: Pick<WorkflowClient, 'startScorecard'>,
  scorecards: Pick<ScorecardStore, 'markStarted'>,
  workspaceId: string,
  { id, counts, deadlineAt, regradeOf }: ScorecardView,
  stopsEarly = false,
): void {
  const input = {
    ...{ workspaceId, scorecardId: id, total: counts.submitted },
    ...(deadlineAt !== null && { deadlineAt: Date.parse(deadlineAt) }),
    ...(stopsEarly && { stopsEarly: true as const }),
    ...(regradeOf !== null && { isRegrade: true as const }),
  };
  workflows.startScorecard(input, () => scorecards.markStarted(id));
}
