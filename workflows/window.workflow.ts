import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import { type Partition, unpackPartition } from '../policy/partition.js';
import { localFirst } from './local-first.js';
import { SEARCH_ATTRIBUTES, type WindowInput } from './messages.js';
import { repairPace } from './pace.js';
import { CONTROL, ONE_LOCAL_TRY } from './proxies.js';
import { Window } from './window.js';

const { listPartition } = proxyActivities<ScorecardActivities>(CONTROL);
const { listPartition: listHere } = proxyLocalActivities<ScorecardActivities>(ONE_LOCAL_TRY);

/** A window this long takes no new grants, lets its cases end and goes on in a new history. */
const MAX_EVENTS = 4_000;

/**
 * Runs the cases of one partition that have no outcome yet, a few at a time: asks for slots in bulk and starts cases
 * that hold one. Lists them again after each pass, and ends when none is left: a case that could not be started,
 * because an earlier incarnation of it had not ended yet, is met again in the next pass.
 */
export async function windowWorkflow(input: WindowInput): Promise<void> {
  const window = new Window(input, isLong);
  try {
    const pace = repairPace();
    for (let isFirst = true; !isLong(); isFirst = false) {
      const partition = await list(input);
      if (partition.runs.length === 0) break;
      if (!isFirst) await sleep(pace.nextMs());
      await window.pass(unpackPartition(input.scorecardId, partition), partition.queueDeadlineSec);
    }
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => window.drain());
    tellEnd(isCancellation(error) ? 'cancelled' : 'failed');
    throw error;
  }
  await window.close();
  if (isLong()) await continueAsNew<typeof windowWorkflow>({ ...input, width: window.width });
  tellEnd('completed');
}

function tellEnd(outcome: string): void {
  if (!patched('tell-window-ends')) return;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.phase, value: 'done' },
    { key: SEARCH_ATTRIBUTES.outcome, value: outcome },
  ]);
}

const isLong = (): boolean => {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MAX_EVENTS || continueAsNewSuggested;
};

const list = ({ scorecardId, index }: WindowInput): Promise<Partition> =>
  localFirst(
    () => listHere({ scorecardId, index }),
    () => listPartition({ scorecardId, index }),
  );
