import type { AttemptEnd, AttemptFailure, RunErrorCode } from '../contracts/attempt.js';
import { PlatformError } from '../contracts/errors.js';
import type { Outcome } from '../contracts/run.js';
import { type Partition, packPartition } from '../policy/partition.js';
import { errored, type Verdict } from '../policy/results.js';
import type { AttemptStore } from '../store/attempt.store.js';
import type { RunStore } from '../store/run.store.js';
import type { ScorecardPlan, ScorecardStore } from '../store/scorecard.store.js';
import { WINDOW_CASES } from '../workflows/messages.js';

interface Deps {
  scorecards: Pick<ScorecardStore, 'plan' | 'partition' | 'complete' | 'requestCancel'>;
  runs: Pick<RunStore, 'settleUnplaced' | 'guards'>;
  attempts: Pick<AttemptStore, 'settle' | 'markCleanupPending'>;
  /** How long a ticket may wait, seconds. */
  queueDeadlineSec: number;
}

export type { ScorecardPlan };

/** An attempt whose `finish` gave up, and why. */
export interface Abandoned {
  runId: string;
  attempt: number;
  end: AttemptEnd;
  failure: AttemptFailure;
}

/** Why a run that never got anywhere ends: nothing of it is in any cluster. */
export type Unplaced = { kind: 'cancelled' } | { kind: 'errored'; code: RunErrorCode; reason: string };

export type ScorecardActivities = ReturnType<typeof createScorecardActivities>;

export function createScorecardActivities({ scorecards, runs, attempts, queueDeadlineSec }: Deps) {
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

    /** A root that is cancelled from the Temporal UI cancels the scorecard like any other way to ask for it. */
    async cancelScorecard({ scorecardId }: { scorecardId: string }): Promise<void> {
      await scorecards.requestCancel(scorecardId);
    },

    /** Settles a run that has no open attempt; one that has, or has its outcome, is left as it is. */
    async settleUnplaced({ runId, end }: { runId: string; end: Unplaced }): Promise<void> {
      const verdict = end.kind === 'cancelled' ? { outcome: 'cancelled' as const } : errored(end.code, end.reason);
      await runs.settleUnplaced(runId, verdict);
    },

    /** Settles an attempt whose `finish` gave up. It stays open for the sweep and keeps its slot, visibly. */
    async abandonAttempt({ runId, attempt, end, failure }: Abandoned): Promise<{ kind: 'settled'; outcome: Outcome }> {
      const verdict = abandonedVerdict(end, failure);
      await attempts.settle(runId, attempt, verdict);
      await attempts.markCleanupPending(runId, attempt);
      return { kind: 'settled', outcome: (await runs.guards(runId))?.outcome ?? verdict.outcome };
    },
  };
}

function abandonedVerdict(end: AttemptEnd, failure: AttemptFailure): Verdict {
  switch (end.kind) {
    case 'cancelled':
      return { outcome: 'cancelled' };
    case 'failed':
      return errored(end.failure.code, end.failure.message);
    case 'record':
    case 'silent':
      return errored(failure.code, failure.message);
  }
}
