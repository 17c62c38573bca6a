import type { RuntimeKind } from '../contracts/runtime.js';
import { errored } from '../policy/results.js';
import { TERMINATED } from '../policy/sweep.js';
import type { AuditStore } from '../store/audit.store.js';
import type { PoolStore } from '../store/pool.store.js';
import type { PredictionStore } from '../store/prediction.store.js';
import type { RetentionStore } from '../store/retention.store.js';
import type { RunStore } from '../store/run.store.js';
import type { ScorecardStore } from '../store/scorecard.store.js';
import type { LiveAttempt, SweepStore } from '../store/sweep.store.js';
import { caseWorkflowId, scorecardWorkflowId } from '../workflows/messages.js';
import type { AdmissionSender } from './admission-sender.js';
import type { Holders } from './holders.js';

interface Deps {
  sweep: SweepStore;
  holders: Pick<Holders, 'gone' | 'dead'>;
  pools: Pick<PoolStore, 'active'>;
  sender: Pick<AdmissionSender, 'wake'>;
  scorecards: Pick<ScorecardStore, 'complete'>;
  runs: Pick<RunStore, 'settleUnplaced'>;
  audit: Pick<AuditStore, 'purge'>;
  predictions: Pick<PredictionStore, 'purge'>;
  /** How long rows of the audit trail are kept. */
  auditDays: number;
  retention: Pick<RetentionStore, 'deleteOld' | 'hideOldLogs' | 'purge'>;
  /** How long what is deleted can be restored. */
  graceSec: number;
}

/** Where a step goes on: after this id, or from the first if it is empty. */
interface Step {
  after: string;
}

/** What one batch came to, and where the next goes on; empty: nothing is left after it. */
export interface Swept {
  count: number;
  next: string;
}

export interface Woken {
  kinds: RuntimeKind[];
  /** Those of which leftovers are looked for. Absent in histories of when `local` alone was. */
  swept?: RuntimeKind[];
}

export type Orphan = Omit<LiveAttempt, 'to'>;

export type SweepActivities = ReturnType<typeof createSweepActivities>;

/** Items of one batch: each of them is one call to Temporal, or more. */
const BATCH = 200;
/** Well within what a local activity may take. */
const PURGE_MS = 1_000;
const ROOT_GONE = 'the workflow of its scorecard was terminated from outside';

const nextAfter = (ids: readonly string[]): string => (ids.length < BATCH ? '' : (ids.at(-1) ?? ''));

/** Finds and settles what nobody owns. Every step can be repeated, beside whoever else repairs the same. */
export function createSweepActivities({
  sweep,
  holders,
  pools,
  sender,
  scorecards,
  runs,
  audit,
  auditDays,
  predictions,
  retention,
  graceSec,
}: Deps) {
  return {
    /** Starts the ledgers that somebody needs, as one that was terminated rebuilds itself. Returns what kinds of runtime there are. */
    async wakePools(): Promise<Woken> {
      for (const poolId of await pools.active()) await sender.wake(poolId);
      const kinds = await sweep.kinds();
      return { kinds, swept: kinds };
    },

    /** Attempts that keep a slot and have nobody who would ever give it back. */
    async findOrphans({ after }: Step): Promise<{ orphans: Orphan[]; next: string }> {
      const live = await sweep.liveAttempts(after, BATCH);
      const orphans = (await holders.dead(live)).map(({ to: _, ...orphan }) => orphan);
      return { orphans, next: nextAfter(live.map(({ runId }) => runId)) };
    },

    /** Settles the runs of scorecards whose root is gone, but those with an open attempt, and ends what is clean. */
    async closeScorecards({ after }: Step): Promise<Swept> {
      const unfinished = await sweep.unfinishedScorecards(after, BATCH);
      let count = 0;
      for (const id of await holders.gone(unfinished, scorecardWorkflowId)) {
        await sweep.settleOrphans(id, ROOT_GONE);
        if (await scorecards.complete(id)) count += 1;
      }
      return { count, next: nextAfter(unfinished) };
    },

    /** Settles single runs whose case is gone and that have no open attempt. */
    async settleLostRuns({ after }: Step): Promise<Swept> {
      const placeless = await sweep.placelessRuns(after, BATCH);
      let count = 0;
      for (const runId of await holders.gone(placeless, caseWorkflowId)) {
        if (await runs.settleUnplaced(runId, errored(TERMINATED.code, TERMINATED.message))) count += 1;
      }
      return { count, next: nextAfter(placeless) };
    },

    /** Hides what workspaces keep no longer. Returns how many scorecards. */
    async applyRetention(): Promise<number> {
      await retention.hideOldLogs();
      return retention.deleteOld(graceSec);
    },

    /** Deletes what is hidden, for about a second. False: nothing is left to delete now. */
    async purge(): Promise<boolean> {
      for (const end = Date.now() + PURGE_MS; Date.now() < end; ) {
        if (!(await retention.purge())) return false;
      }
      return true;
    },

    /** Deletes idempotency keys that have expired, rows of the audit trail and predictions of waits that are old, and secrets nobody can print. */
    async purgeKeys(): Promise<number> {
      await audit.purge(auditDays);
      await predictions.purge();
      await sweep.purgeReplacedSecrets();
      return sweep.purgeKeys();
    },
  };
}
