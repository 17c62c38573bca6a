import { CancellationScope, isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AllocationActivities } from '../activities/allocation.activities.js';
import type { AttemptInput, FinishInput, FinishResult, ShortResult } from '../activities/attempt.js';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import { attemptFailureOf } from './failures.js';
import { localFirst } from './local-first.js';
import { caseQueue } from './messages.js';
import { CLEANUP, CLUSTER_CLEANUP, CONTROL, DISPATCH, ONE_LOCAL_TRY } from './proxies.js';

const { abandonAttempt } = proxyActivities<ScorecardActivities>(CONTROL);

/** How long the one host of a local runtime may be away before its jobs count as lost. */
const LOCAL_HOST_PATIENCE = '10 minutes';

const summaryOf = (verb: string, { kind, attempt }: Pick<AttemptInput, 'kind' | 'attempt'>) =>
  `${kind} ${verb}, attempt ${attempt}`;

/** One try inside the workflow task, which the Temporal UI names. */
const here = (verb: string, input: Pick<AttemptInput, 'kind' | 'attempt'>) =>
  proxyLocalActivities<AllocationActivities>({ ...ONE_LOCAL_TRY, summary: summaryOf(verb, input) });

const hostPatience = ({ kind }: Pick<AttemptInput, 'kind'>) =>
  kind === 'local' ? { scheduleToStartTimeout: LOCAL_HOST_PATIENCE } : {};

/** `finished`: a short job, of which nothing is left to do. */
export type Placed = Exclude<ShortResult, { kind: 'running' }>;

/** Places the attempt and follows it to its end. Whatever goes wrong is an end too; nothing is thrown. */
export async function place(input: AttemptInput): Promise<Placed> {
  try {
    if (input.kind === 'local') {
      const short = await shortTry(input);
      if (short) return short;
    }
    const { dispatch } = proxyActivities<AllocationActivities>({
      ...DISPATCH,
      ...hostPatience(input),
      taskQueue: caseQueue(input.kind),
      summary: summaryOf('dispatch', input),
    });
    return await dispatch(input);
  } catch (error) {
    return isCancellation(error) ? { kind: 'cancelled' } : { kind: 'failed', failure: attemptFailureOf(error) };
  }
}

/** Short jobs end here, for one event. Undefined: it takes longer, or failed where `dispatch` will show why. */
async function shortTry(input: AttemptInput): Promise<Placed | undefined> {
  try {
    const { tryShort } = here('try', input);
    const result = await CancellationScope.nonCancellable(() => tryShort(input));
    return result.kind === 'running' ? undefined : result;
  } catch {
    return undefined;
  }
}

/**
 * Settles, removes what the job left, and gives the slot back. If the removal cannot be confirmed in time the run is
 * settled all the same, and its attempt goes on holding the slot, visibly, until a sweep confirms it.
 */
export async function finishAttempt(input: FinishInput): Promise<FinishResult> {
  const { finish } = proxyActivities<AllocationActivities>({
    ...(input.kind === 'local' ? CLEANUP : CLUSTER_CLEANUP),
    taskQueue: caseQueue(input.kind),
    summary: summaryOf('finish', input),
  });
  try {
    if (input.kind !== 'local') return await finish(input);
    return await localFirst(
      () => here('finish', input).finish(input),
      () => finish(input),
    );
  } catch (error) {
    const { runId, attempt, end } = input;
    return abandonAttempt({ runId, attempt, end, failure: attemptFailureOf(error) });
  }
}
