import { setTimeout as sleep } from 'node:timers/promises';
import { type WorkflowClient, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from '@temporalio/worker';
import type { AdmissionSender } from '../activities/admission-sender.js';
import { errored } from '../policy/results.js';
import type { OutboxStore } from '../store/outbox.store.js';
import type { PoolStore } from '../store/pool.store.js';
import type { RunStore } from '../store/run.store.js';
import type { ScorecardStore } from '../store/scorecard.store.js';
import { caseStart, caseWorkflowId, scorecardStart, scorecardWorkflowId } from '../workflows/messages.js';

interface Deps {
  client: WorkflowClient;
  sender: Pick<AdmissionSender, 'wake'>;
  scorecards: Pick<ScorecardStore, 'unstarted' | 'markStarted' | 'complete'>;
  runs: Pick<RunStore, 'unstarted' | 'markStarted' | 'settleUnplaced'>;
  pools: Pick<PoolStore, 'active'>;
  outbox: OutboxStore;
  workflowTaskMs: number;
  queueDeadlineSec: number;
  log: Logger;
}

const EVERY_MS = 2_000;
/** Of the rounds: each fifth one looks for what ended from outside, too. */
const SWEEP_EACH = 5;
const BATCH = 200;

const ENDED: ReadonlySet<string> = new Set(['COMPLETED', 'CANCELLED', 'FAILED', 'TERMINATED', 'TIMED_OUT']);
const CASE_GONE = 'its workflow was ended from outside';
const ROOT_GONE = 'the workflow of its scorecard was ended from outside';

/** Makes Temporal follow the database: whatever was missed while one of them, or we, were down. */
export class Outbox {
  private readonly stopped = new AbortController();
  private loop: Promise<void> = Promise.resolve();
  /** Where the sweeps go on: a batch at a time, from the first again after the last. */
  private readonly swept = { scorecard: '', run: '' };

  constructor(private readonly deps: Deps) {}

  start(): void {
    this.loop = this.repeat();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.loop;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.stopped;
    for (let round = 0; !signal.aborted; round += 1) {
      await this.attempt('start of scorecards', () => this.startScorecards());
      await this.attempt('start of runs', () => this.startRuns());
      if (round % SWEEP_EACH === 0) {
        await this.attempt('wake of pools', () => this.wakePools());
        await this.attempt('sweep', () => this.sweep());
      }
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.deps.log.warn('outbox step failed, it is tried again', { what, error });
    }
  }

  async startScorecards(): Promise<void> {
    const { scorecards, workflowTaskMs } = this.deps;
    for (const { id, workspaceId, total } of await scorecards.unstarted(BATCH)) {
      await this.startOnce(
        'scorecardWorkflow',
        scorecardStart({ workspaceId, scorecardId: id, total }, workflowTaskMs),
      );
      await scorecards.markStarted(id);
    }
  }

  async startRuns(): Promise<void> {
    const { runs, workflowTaskMs, queueDeadlineSec } = this.deps;
    for (const run of await runs.unstarted(BATCH)) {
      const start = caseStart({ ...run, attempt: 1, queueDeadlineSec }, workflowTaskMs);
      await this.startOnce('caseWorkflow', {
        ...start,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      });
      await runs.markStarted(run.runId);
    }
  }

  /** A ledger that was terminated rebuilds itself as soon as it is asked anything. */
  async wakePools(): Promise<void> {
    for (const poolId of await this.deps.pools.active()) {
      await this.deps.sender.wake(poolId);
    }
  }

  /** Cancels that Temporal did not hear of, and scorecards whose root is gone. */
  async sweep(): Promise<void> {
    const { outbox, scorecards } = this.deps;
    const unfinished = await outbox.unfinishedScorecards(this.swept.scorecard, BATCH);
    this.swept.scorecard = nextAfter(unfinished.map(({ id }) => id));
    for (const { id, isCancelRequested } of unfinished) {
      const root = scorecardWorkflowId(id);
      if (!(await this.isGone(root))) {
        if (isCancelRequested) await this.cancel(root);
        continue;
      }
      await outbox.settleOrphans(id, ROOT_GONE);
      await scorecards.complete(id);
    }
    for (const runId of await outbox.cancellingRuns(BATCH)) await this.cancel(caseWorkflowId(runId));
    await this.sweepRuns();
  }

  /** Single runs whose case is gone. Those with an open attempt are reclaimed by the ledger that holds their lease. */
  private async sweepRuns(): Promise<void> {
    const { outbox, runs } = this.deps;
    const placeless = await outbox.placelessRuns(this.swept.run, BATCH);
    this.swept.run = nextAfter(placeless);
    for (const runId of placeless) {
      if (await this.isGone(caseWorkflowId(runId))) {
        await runs.settleUnplaced(runId, errored('PLATFORM_TERMINATED', CASE_GONE));
      }
    }
  }

  private async startOnce(type: string, options: Parameters<WorkflowClient['start']>[1]): Promise<void> {
    try {
      await this.deps.client.start(type, options);
    } catch (error) {
      // It ran and ended already.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  private async isGone(workflowId: string): Promise<boolean> {
    try {
      return ENDED.has((await this.deps.client.getHandle(workflowId).describe()).status.name);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return true;
      throw error;
    }
  }

  private async cancel(workflowId: string): Promise<void> {
    try {
      await this.deps.client.getHandle(workflowId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}

const nextAfter = (ids: readonly string[]): string => (ids.length < BATCH ? '' : (ids.at(-1) ?? ''));
