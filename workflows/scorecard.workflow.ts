import {
  CancellationScope,
  condition,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { RegradeActivities } from '../activities/regrade.activities.js';
import type { ScorecardActivities, ScorecardPlan } from '../activities/scorecard.activities.js';
import { inFlightBudget, isWidenable, type OpenWindow, shareWidth } from '../policy/windows.js';
import { inBackground } from './background.js';
import { localFirst } from './local-first.js';
import {
  runPromoted,
  type ScorecardInput,
  SEARCH_ATTRIBUTES,
  TASK_QUEUES,
  WINDOW_CASES,
  type WindowInput,
  windowDrained,
  windowIndexOf,
  windowWidened,
  windowWorkflowId,
} from './messages.js';
import { Pace } from './pace.js';
import { CONTROL, ONE_LOCAL_TRY, REGRADE } from './proxies.js';
import { type Ending, untilEnded } from './scorecard-end.js';
import { windowWorkflow } from './window.workflow.js';

const { planScorecard, completeScorecard, cancelScorecard } = proxyActivities<ScorecardActivities>(CONTROL);
const { regradeScorecard } = proxyActivities<RegradeActivities>(REGRADE);
const { planScorecard: planHere } = proxyLocalActivities<ScorecardActivities>(ONE_LOCAL_TRY);

/** How often a window that has nothing left to ask for gives width back, over its tail. */
const REPORTS = 4;

/** How often cases that ended make the root look whether the verdict is certain; it also looks when a window closes. */
const LOOKS = 100;

/** A root may have to try for days. */
const rootPace = (): Pace => new Pace(1_000, 5 * 60_000);

/**
 * Root of one scorecard. One that is graded anew runs nothing. Any other: cuts it into partitions and keeps as many windows open as its pools' slots call for. Width
 * that a window no longer needs goes to the next one, so that a last slow case holds nothing up.
 */
export async function scorecardWorkflow(input: ScorecardInput): Promise<void> {
  const { scorecardId } = input;
  let outcome = 'completed';
  try {
    await (input.isRegrade ? regrade(scorecardId) : untilEnded(input, (ending) => runWindows(input, ending)));
  } catch (error) {
    outcome = isCancellation(error) ? 'cancelled' : 'failed';
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => completeWhenClean(scorecardId));
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.phase, value: 'done' },
      { key: SEARCH_ATTRIBUTES.outcome, value: outcome },
    ]);
  }
}

/** What is cancelled before it is graded stays without a verdict. */
async function regrade(scorecardId: string): Promise<void> {
  try {
    await regradeScorecard({ scorecardId });
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => cancelScorecard({ scorecardId }));
    throw error;
  }
}

async function runWindows(input: ScorecardInput, ending: Ending): Promise<void> {
  const { scorecardId, total } = input;
  const windows = new Map<number, OpenWindow>();
  const unopened = Array.from({ length: Math.ceil(total / WINDOW_CASES) }, (_, index) => index);
  let hasChanged = true;
  let urgent = 0;
  setHandler(runPromoted, (runId) => {
    const at = unopened.indexOf(windowIndexOf(scorecardId, runId));
    if (at < urgent) return;
    unopened.unshift(...unopened.splice(at, 1));
    urgent += 1;
    hasChanged = true;
  });
  setHandler(windowDrained, ({ index, inFlight }) => {
    if (windows.has(index)) windows.set(index, { index, width: inFlight, isDrained: true });
    hasChanged = true;
  });
  const run = async (start: WindowInput): Promise<void> => {
    try {
      await runWindow(start);
    } finally {
      windows.delete(start.index);
      hasChanged = true;
      ending.noteCases();
    }
  };

  try {
    while (windows.size + unopened.length > 0) {
      await condition(() => hasChanged);
      hasChanged = false;
      const canUse = unopened.length > 0 || [...windows.values()].some(isWidenable);
      if (!canUse) continue;
      const plan = await planNow(scorecardId);
      const budget = inFlightBudget(plan);
      const step = shareWidth([...windows.values()], budget, unopened, isCapped(plan) ? 0 : urgent);
      for (const { index, width } of step.widen) {
        windows.set(index, { index, width, isDrained: false });
        const window = getExternalWorkflowHandle(windowWorkflowId(scorecardId, index));
        inBackground(() => window.signal(windowWidened, width));
      }
      for (const { index, width } of step.open) {
        unopened.shift();
        urgent = Math.max(0, urgent - 1);
        windows.set(index, { index, width, isDrained: false });
        inBackground(() => run(windowInput(input, index, width, plan)));
      }
      setCurrentDetails(`${windows.size} windows open, ${unopened.length} to open`);
    }
  } catch (error) {
    await CancellationScope.nonCancellable(async () => {
      if (isCancellation(error) && !ending.isEnded) await cancelScorecard({ scorecardId });
      await condition(() => windows.size === 0);
    });
    throw error;
  }
}

function windowInput(root: ScorecardInput, index: number, width: number, plan: ScorecardPlan): WindowInput {
  const { workspaceId, scorecardId } = root;
  const budget = inFlightBudget(plan);
  const isOnly = root.total <= WINDOW_CASES;
  return {
    workspaceId,
    scorecardId,
    index,
    width,
    isCapped: isCapped(plan),
    // Nobody else could use what the only window gives back.
    reportStep: isOnly ? width + 1 : Math.max(1, Math.min(Math.ceil(width / 2), Math.ceil(budget / REPORTS))),
    ...(root.stopsEarly && { judgeStep: Math.ceil(root.total / LOOKS) }),
  };
}

/** One window until all its runs have an outcome. Terminated or failed from outside, it is started again for the rest. */
async function runWindow(input: WindowInput): Promise<void> {
  const { scorecardId, workspaceId, index } = input;
  for (const pace = rootPace(); ; ) {
    try {
      await executeChild(windowWorkflow, {
        args: [input],
        workflowId: windowWorkflowId(scorecardId, index),
        taskQueue: TASK_QUEUES.control,
        workflowTaskTimeout: workflowInfo().taskTimeoutMs,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `${workspaceId} · ${scorecardId} · window ${index}`,
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.workspace, value: workspaceId },
          { key: SEARCH_ATTRIBUTES.scorecard, value: scorecardId },
          { key: SEARCH_ATTRIBUTES.phase, value: 'running' },
        ],
      });
      return;
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      await sleep(pace.nextMs());
    }
  }
}

/** Whether the scorecard's own `concurrency` is what limits it. */
const isCapped = (plan: ScorecardPlan): boolean => plan.concurrency === inFlightBudget(plan);

async function planNow(scorecardId: string): Promise<ScorecardPlan> {
  return localFirst(
    () => planHere({ scorecardId }),
    () => planScorecard({ scorecardId }),
  );
}

/** What a cluster has not given up yet keeps the scorecard open. */
async function completeWhenClean(scorecardId: string): Promise<void> {
  const pace = rootPace();
  while (!(await completeScorecard({ scorecardId }))) await sleep(pace.nextMs());
}
