import { setTimeout as sleep } from 'node:timers/promises';
import { type WorkflowClient, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from '@temporalio/worker';
import type { OutboxStore } from '../store/outbox.store.js';
import type { RunStore } from '../store/run.store.js';
import type { ScorecardStore } from '../store/scorecard.store.js';
import { caseStart, caseWorkflowId, scorecardStart, scorecardWorkflowId } from '../workflows/messages.js';
import type { SweepSchedule } from './sweep-schedule.js';

interface Deps {
  client: WorkflowClient;
  scorecards: Pick<ScorecardStore, 'unstarted' | 'markStarted'>;
  runs: Pick<RunStore, 'unstarted' | 'markStarted'>;
  outbox: OutboxStore;
  sweeps: Pick<SweepSchedule, 'keep'>;
  workflowTaskMs: number;
  queueDeadlineSec: number;
  log: Logger;
}

const EVERY_MS = 2_000;
/** Of the rounds: each fifth one repeats what is rarely missed, too. */
const RARELY_EACH = 5;
const BATCH = 200;

/** Makes Temporal follow the database: whatever was missed while one of them, or we, were down. */
export class Outbox {
  private readonly stopped = new AbortController();
  private loop: Promise<void> = Promise.resolve();

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
      if (round % RARELY_EACH === 0) {
        await this.attempt('cancel', () => this.cancelAll());
        await this.attempt('schedule of sweeps', () => this.deps.sweeps.keep());
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
    for (const { id, ...input } of await scorecards.unstarted(BATCH)) {
      await this.startOnce('scorecardWorkflow', scorecardStart({ ...input, scorecardId: id }, workflowTaskMs));
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

  /** Cancels that Temporal did not hear of. */
  async cancelAll(): Promise<void> {
    const { outbox } = this.deps;
    for (const id of await outbox.cancellingScorecards(BATCH)) await this.cancel(scorecardWorkflowId(id));
    for (const runId of await outbox.cancellingRuns(BATCH)) await this.cancel(caseWorkflowId(runId));
  }

  private async startOnce(type: string, options: Parameters<WorkflowClient['start']>[1]): Promise<void> {
    try {
      await this.deps.client.start(type, options);
    } catch (error) {
      // It ran and ended already.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
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
