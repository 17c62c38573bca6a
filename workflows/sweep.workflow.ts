import {
  isCancellation,
  log,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { AdmissionActivities } from '../activities/admission.activities.js';
import type { AllocationActivities } from '../activities/allocation.activities.js';
import type { LeftoverActivities } from '../activities/leftover.activities.js';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import type { Orphan, SweepActivities, Swept } from '../activities/sweep.activities.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { TERMINATED } from '../policy/sweep.js';
import { localFirst } from './local-first.js';
import { caseQueue, SEARCH_ATTRIBUTES } from './messages.js';
import { BOUNDED_CLEANUP, CONTROL, ONE_LOCAL_TRY, SURVEY } from './proxies.js';

const { requestAdmission } = proxyActivities<AdmissionActivities>(CONTROL);
const { abandonAttempt } = proxyActivities<ScorecardActivities>(CONTROL);
/** Most sweeps find nothing: their histories stay short, as there are many of them. */
const here = proxyLocalActivities<SweepActivities>(ONE_LOCAL_TRY);
const anywhere = proxyActivities<SweepActivities>(SURVEY);

/** Batches of each step in one sweep; the next goes on where this one stopped. */
const MOST_BATCHES = 10;

/** What a sweep found and mended, for people and for the sweep that follows. */
export interface SweepResult {
  /** Attempts that were cleaned up after, and those that could not be now: their runs are settled, they are tried again. */
  reclaimed: number;
  stuck: number;
  scorecards: number;
  runs: number;
  /** Allocations that had no open attempt. */
  leftovers: number;
  keys: number;
  /** Scorecards that retention deleted. */
  deleted: number;
  next: { orphans: string; scorecards: string; runs: string };
}

/**
 * Settles and cleans what nobody owns: first the attempts, so that their scorecards can end; then what has no attempt.
 * Started by a schedule, one at a time. Each step can be repeated, beside those who repair the same thing sooner.
 */
export async function sweepWorkflow(): Promise<SweepResult> {
  const last = workflowInfo().lastResult as SweepResult | undefined;
  const swept: SweepResult = {
    ...{ reclaimed: 0, stuck: 0, scorecards: 0, runs: 0, leftovers: 0, keys: 0, deleted: 0 },
    next: last?.next ?? { orphans: '', scorecards: '', runs: '' },
  };
  const tell = (): void => setCurrentDetails(describe(swept));

  const { kinds, swept: looked = kinds.filter(isLocal) } = await inShort(({ wakePools }) => wakePools());
  const leftovers = Promise.all(looked.map(removeLeftovers));
  swept.next.orphans = await inBatches(swept.next.orphans, async (after) => {
    const { orphans, next } = await inShort(({ findOrphans }) => findOrphans({ after }));
    const results = await Promise.all(orphans.map(reclaim));
    const reclaimed = results.filter(Boolean).length;
    swept.reclaimed += reclaimed;
    swept.stuck += results.length - reclaimed;
    tell();
    return next;
  });
  const count = (of: 'scorecards' | 'runs', step: 'closeScorecards' | 'settleLostRuns') =>
    inBatches(swept.next[of], async (after) => {
      const batch: Swept = await inShort((activities) => activities[step]({ after }));
      swept[of] += batch.count;
      tell();
      return batch.next;
    });
  swept.next.scorecards = await count('scorecards', 'closeScorecards');
  swept.next.runs = await count('runs', 'settleLostRuns');
  swept.keys = await inShort(({ purgeKeys }) => purgeKeys());
  if (patched('purges')) {
    swept.deleted = await inShort(({ applyRetention }) => applyRetention());
    await purge();
  }
  swept.leftovers = (await leftovers).reduce((sum, removed) => sum + removed, 0);
  tell();
  if (patched('tell-sweep-ends')) {
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.phase, value: 'done' },
      { key: SEARCH_ATTRIBUTES.outcome, value: swept.stuck > 0 ? 'stuck' : 'completed' },
    ]);
  }
  return swept;
}

/** Some of what was deleted and can no longer be restored; the next sweep goes on. */
async function purge(): Promise<void> {
  for (let batches = 0; batches < MOST_BATCHES; batches += 1) {
    if (!(await inShort((activities) => activities.purge()))) return;
  }
}

const isLocal = (kind: RuntimeKind): boolean => kind === 'local';

const inShort = <Result>(call: (activities: typeof here | typeof anywhere) => Promise<Result>): Promise<Result> =>
  localFirst(
    () => call(here),
    () => call(anywhere),
  );

/** From there on, and returns where the next sweep goes on. */
async function inBatches(from: string, sweepAfter: (after: string) => Promise<string>): Promise<string> {
  let after = from;
  for (let batches = 0; batches < MOST_BATCHES; batches += 1) {
    after = await sweepAfter(after);
    if (after === '') break;
  }
  return after;
}

/** Cleans up after an attempt, then gives its slot back. False: its cluster or host does not confirm that now. */
async function reclaim({ runId, attempt, poolId, kind, holder, seq }: Orphan): Promise<boolean> {
  const activities = proxyActivities<AllocationActivities>({
    ...BOUNDED_CLEANUP,
    taskQueue: caseQueue(kind),
    summary: `${kind} reclaim of ${runId}`,
  });
  try {
    await activities.reclaim({ runId, seq });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('an attempt could not be cleaned up after, the next sweep tries again', { runId, error });
    await abandonAttempt({ runId, attempt, end: { kind: 'failed', failure: TERMINATED }, failure: TERMINATED });
    return false;
  }
  await requestAdmission({ poolId, acquire: [], release: [{ holder, seq }] });
  return true;
}

async function removeLeftovers(kind: RuntimeKind): Promise<number> {
  const activities = proxyActivities<LeftoverActivities>({
    ...BOUNDED_CLEANUP,
    taskQueue: caseQueue(kind),
    summary: `${kind} second look`,
  });
  try {
    return await activities.removeLeftovers({ kind });
  } catch (error) {
    if (!isCancellation(error)) log.warn('leftovers could not be removed, the next sweep tries again', { error });
    return 0;
  }
}

const describe = ({ reclaimed, stuck, scorecards, runs, leftovers }: SweepResult): string =>
  `${reclaimed} attempts cleaned up after, ${stuck} not yet; ${scorecards} scorecards and ${runs} runs ended; ` +
  `${leftovers} leftovers removed`;
