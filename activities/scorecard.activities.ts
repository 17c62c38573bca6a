import type { RunErrorCode } from '../contracts/attempt.js';
import { PlatformError } from '../contracts/errors.js';
import { judgeEarly } from '../policy/early-stop/judge.js';
import { type Partition, packPartition } from '../policy/partition.js';
import { errored } from '../policy/results.js';
import type { DeadlineStore } from '../store/deadline.store.js';
import type { EarlyStopStore } from '../store/early-stop.store.js';
import type { PauseStore } from '../store/pause.store.js';
import type { RunStore } from '../store/run.store.js';
import type { ScorecardPlan, ScorecardStore } from '../store/scorecard.store.js';
import { WINDOW_CASES } from '../workflows/messages.js';
import type { Abandoned, FinishResult } from './attempt.js';
import type { AttemptFinisher } from './attempt-finisher.js';

interface Deps {
  scorecards: Pick<ScorecardStore, 'plan' | 'partition' | 'complete' | 'requestCancel'>;
  deadlines: Pick<DeadlineStore, 'endLate'>;
  earlyStops: Pick<EarlyStopStore, 'find' | 'cases' | 'stop' | 'cancelRest'>;
  runs: Pick<RunStore, 'settleUnplaced'>;
  pauses: Pick<PauseStore, 'restartWait'>;
  finisher: Pick<AttemptFinisher, 'abandon'>;
  /** How long a ticket may wait, seconds. */
  queueDeadlineSec: number;
}

export type { ScorecardPlan };

/** Why a run that never got anywhere ends: nothing of it is in any cluster. */
export type Unplaced = { kind: 'cancelled' } | { kind: 'errored'; code: RunErrorCode; reason: string };

export type ScorecardActivities = ReturnType<typeof createScorecardActivities>;

export function createScorecardActivities(deps: Deps) {
  const { scorecards, deadlines, earlyStops, runs, pauses, finisher, queueDeadlineSec } = deps;
  return {
    async planScorecard({ scorecardId }: { scorecardId: string }): Promise<ScorecardPlan> {
      const plan = await scorecards.plan(scorecardId);
      if (!plan) throw new PlatformError('NOT_FOUND', `no scorecard ${scorecardId}`);
      return plan;
    },

    /** The runs of one partition that have no outcome yet. */
    async listPartition({ scorecardId, index }: { scorecardId: string; index: number }): Promise<Partition> {
      const from = index * WINDOW_CASES;
      const found = await scorecards.partition(scorecardId, from, from + WINDOW_CASES);
      return packPartition(found, queueDeadlineSec);
    },

    /** Whether it is finished now: every run settled and nothing of them left on any cluster. */
    completeScorecard: ({ scorecardId }: { scorecardId: string }): Promise<boolean> => scorecards.complete(scorecardId),

    /** Ends every run that has no outcome when the scorecard's deadline has passed; what runs is left to be removed. */
    endLate: ({ scorecardId }: { scorecardId: string }): Promise<void> => deadlines.endLate(scorecardId),

    /**
     * Ends a scorecard whose verdict is certain: whether it is ended now. What has no outcome is cancelled, and what runs is
     * left to be removed. Called again, it goes on where it was broken off.
     */
    async endEarly({ scorecardId }: { scorecardId: string }): Promise<boolean> {
      const found = await earlyStops.find(scorecardId);
      if (!found) return false;
      if (found.isStopped) return earlyStops.cancelRest(scorecardId);
      const cases = await earlyStops.cases(scorecardId, found.plan);
      const verdict = cases && judgeEarly(found.plan, cases);
      return verdict !== undefined && earlyStops.stop(scorecardId, { ...verdict, errorRate: found.plan.errorRate });
    },

    /** A root that is cancelled from the Temporal UI cancels the scorecard like any other way to ask for it. */
    async cancelScorecard({ scorecardId }: { scorecardId: string }): Promise<void> {
      await scorecards.requestCancel(scorecardId);
    },

    /**
     * Settles a run that has no open attempt; one that has, or has its outcome, is left as it is. So is one that waited
     * too long because its scorecard was paused: its window meets it again.
     */
    async settleUnplaced({ runId, end }: { runId: string; end: Unplaced }): Promise<void> {
      const isLate = end.kind === 'errored' && end.code === 'QUEUE_TIMEOUT';
      if (isLate && (await pauses.restartWait(runId))) return;
      const verdict = end.kind === 'cancelled' ? { outcome: 'cancelled' as const } : errored(end.code, end.reason);
      await runs.settleUnplaced(runId, verdict);
    },

    /** Settles an attempt whose `finish` gave up. */
    abandonAttempt: (abandoned: Abandoned): Promise<FinishResult> => finisher.abandon(abandoned),
  };
}
