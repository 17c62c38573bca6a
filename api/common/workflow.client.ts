import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  QueryRejectedError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { Env } from '../../config/env.js';
import type { JsonLog } from '../../config/log.js';
import { OldTemporalError, refuseOldTemporal, temporalConnection } from '../../config/temporal.js';
import type { AdmissionMessage, Promotion } from '../../contracts/admission.js';
import type { PoolView, QueuePage, QueueRequest } from '../../contracts/admission-view.js';
import type { Waiting } from '../../contracts/waiting.js';
import type { ChangedLimits } from '../../store/pool-limits.js';
import {
  admissionRequested,
  admissionWorkflowId,
  type CaseInput,
  caseStart,
  caseWorkflowId,
  envelopeChanged,
  type HeldLease,
  heldLeases,
  poolView,
  queuePage,
  runPromoted,
  runsSettled,
  type ScorecardInput,
  scorecardStart,
  scorecardWorkflowId,
  waitingOf,
  windowOfRun,
} from '../../workflows/messages.js';

/** How long one call to Temporal may take. What is missed, workers make up for from the database. */
const DEADLINE_MS = 2_000;
/** For so long promotions of a pool are gathered. */
const GATHER_MS = 100;
/** Between the tries of one call. */
const PAUSES_MS = [100, 500];
/** TaskQueueType of the API. */
const QUEUE_TYPE = { workflows: 1, activities: 2 } as const;
/** A worker without work asks again at least each minute. */
const POLLER_IS_LIVE_MS = 70_000;
/** A second start finds the first, or that it has ended. */
const ONCE = { workflowIdConflictPolicy: 'USE_EXISTING', workflowIdReusePolicy: 'REJECT_DUPLICATE' } as const;

type Settings = Pick<
  Env,
  | 'EVERDICT_QUEUE_DEADLINE_SEC'
  | 'EVERDICT_TEMPORAL_UI'
  | 'EVERDICT_WORKFLOW_TASK_SEC'
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_NAMESPACE'
>;

interface PromotedRun {
  runId: string;
  /** Absent: a run of its own, or one whose ledger alone is to be told again. */
  scorecardId?: string;
  poolId: string;
  promotedAt: Date;
  /** It has not asked for a slot. */
  isQueued: boolean;
}

type StartOptions = ReturnType<typeof scorecardStart> | ReturnType<typeof caseStart>;

/**
 * Starts, cancels and signals workflows, best effort: everything is in the database before, so a call that fails is
 * logged and made good by the workers. Nobody waits for it but `close`.
 */
export class WorkflowClient {
  private readonly pending = new Set<Promise<void>>();
  /** By pool: what goes with the next signal. */
  private readonly promotions = new Map<string, Promotion[]>();

  constructor(
    private readonly client: Client,
    private readonly log: JsonLog,
    private readonly env: Settings,
  ) {}

  static lazy(env: Env, log: JsonLog): WorkflowClient {
    const options = { ...temporalConnection(env), connectTimeout: DEADLINE_MS, interceptors: [] };
    const connection = Connection.lazy(options);
    // What a closed workflow last knew is no answer.
    const workflow = { queryRejectCondition: 'NOT_OPEN' } as const;
    return new WorkflowClient(new Client({ connection, namespace: env.TEMPORAL_NAMESPACE, workflow }), log, env);
  }

  /** `started` is told once Temporal has the workflow, also if it had it before. */
  startScorecard(input: ScorecardInput, started: () => Promise<void>): void {
    this.start('scorecardWorkflow', scorecardStart(input, this.taskMs), started);
  }

  startCase(input: Omit<CaseInput, 'attempt' | 'queueDeadlineSec'>, started: () => Promise<void>): void {
    const queueDeadlineSec = this.env.EVERDICT_QUEUE_DEADLINE_SEC;
    this.start('caseWorkflow', caseStart({ ...input, attempt: 1, queueDeadlineSec }, this.taskMs), started);
  }

  cancelScorecard(scorecardId: string): void {
    this.cancel(scorecardWorkflowId(scorecardId));
  }

  cancelCase(runId: string): void {
    this.cancel(caseWorkflowId(runId));
  }

  /** A run of a scorecard that was settled from outside: its window drops its ticket, its case stops its job. */
  dropRun(scorecardId: string, runId: string): void {
    this.cancelCase(runId);
    this.signal(windowOfRun(scorecardId, runId), (window) => window.signal(runsSettled, [caseWorkflowId(runId)]));
  }

  /** Tells the admission workflows of pools whose limits changed. */
  signalLimits(changed: readonly ChangedLimits[] = []): void {
    for (const { poolId, envelopeVersion } of changed) {
      this.signal(admissionWorkflowId(poolId), (ledger) => ledger.signal(envelopeChanged, envelopeVersion));
    }
  }

  /** Whether Temporal answers, is new enough, and serves the namespace. */
  async check(deadlineMs: number): Promise<void> {
    const { namespace } = this.client.options;
    const { workflowService } = this.client.connection;
    await this.client.connection.withDeadline(Date.now() + deadlineMs, async () => {
      await workflowService.describeNamespace({ namespace });
      const { serverVersion } = await workflowService.getSystemInfo({});
      refuseOldTemporal(serverVersion ?? '', this.env.TEMPORAL_ADDRESS);
    });
  }

  /** Fails if the server is too old. One that does not answer now may be started later. */
  async refuseOldServer(): Promise<void> {
    try {
      await this.check(DEADLINE_MS);
    } catch (error) {
      if (error instanceof OldTemporalError) throw error;
    }
  }

  /** Whether any worker asks for work of a queue. */
  async isServed(taskQueue: string, deadlineMs: number, work: keyof typeof QUEUE_TYPE = 'workflows'): Promise<boolean> {
    const { namespace } = this.client.options;
    const { workflowService } = this.client.connection;
    return this.client.connection.withDeadline(Date.now() + deadlineMs, async () => {
      const { pollers } = await workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: QUEUE_TYPE[work],
      });
      return (pollers ?? []).some(({ lastAccessTime }) => Date.now() - tsToMs(lastAccessTime) < POLLER_IS_LIVE_MS);
    });
  }

  /** What the ledger of a pool says is granted and not given back; nothing, if it does not run. */
  async heldLeases(poolId: string, deadlineMs: number): Promise<HeldLease[]> {
    return (await this.ask(poolId, deadlineMs, (ledger) => ledger.query(heldLeases))) ?? [];
  }

  /** Limits, use, holders and waiting tickets of a pool; nothing, if its ledger does not run: nobody holds or waits. */
  poolView(poolId: string, deadlineMs: number): Promise<PoolView | undefined> {
    return this.ask(poolId, deadlineMs, (ledger) => ledger.query(poolView));
  }

  /** A part of the queue of a pool in the order in which tickets are considered. */
  queuePage(poolId: string, request: QueueRequest, deadlineMs: number): Promise<QueuePage | undefined> {
    return this.ask(poolId, deadlineMs, (ledger) => ledger.query(queuePage, request));
  }

  /** What these runs wait for in a pool, by run. A run the ledger does not know is left out. */
  async waitingOf(poolId: string, runs: string[], deadlineMs: number): Promise<Record<string, Waiting>> {
    return (await this.ask(poolId, deadlineMs, (ledger) => ledger.query(waitingOf, runs))) ?? {};
  }

  /** A run whose `promoted_at` was set: its ticket goes first; its window asks for one that has none yet. */
  promote({ runId, scorecardId, poolId, promotedAt, isQueued }: PromotedRun): void {
    const promotion = { holder: caseWorkflowId(runId), at: promotedAt.getTime() };
    const gathering = this.promotions.get(poolId);
    if (gathering) gathering.push(promotion);
    else this.promoteSoon(poolId, [promotion]);
    if (scorecardId === undefined) return;
    // Its window may not be open yet. A root takes few signals in its life: only where it matters.
    const told = [windowOfRun(scorecardId, runId), ...(isQueued ? [scorecardWorkflowId(scorecardId)] : [])];
    for (const workflowId of told) this.signal(workflowId, (handle) => handle.signal(runPromoted, runId));
  }

  /** Closes the circuit of a pool; one whose ledger does not run has none. */
  resetCircuit(poolId: string): void {
    const message: AdmissionMessage = { acquire: [], release: [], resetCircuit: true };
    this.signal(admissionWorkflowId(poolId), (ledger) => ledger.signal(admissionRequested, message));
  }

  /** Lets calls under way end, then disconnects. */
  async close(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
    await this.client.connection.close();
  }

  /** In front of the id of a workflow it is a link to it. */
  get uiUrl(): string | undefined {
    const { EVERDICT_TEMPORAL_UI: ui, TEMPORAL_NAMESPACE: namespace } = this.env;
    return ui && `${ui.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
  }

  private get taskMs(): number {
    return this.env.EVERDICT_WORKFLOW_TASK_SEC * 1_000;
  }

  private start(type: string, options: StartOptions, started: () => Promise<void>): void {
    this.attempt('start', options.workflowId, async () => {
      try {
        await this.client.workflow.start(type, { ...options, ...ONCE });
      } catch (error) {
        // It ran and ended already: a worker was faster.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      await started();
    });
  }

  /** Undefined: the ledger of that pool does not run. */
  private async ask<Answer>(
    poolId: string,
    deadlineMs: number,
    question: (ledger: WorkflowHandle) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const ledger = this.client.workflow.getHandle(admissionWorkflowId(poolId));
    try {
      return await this.client.connection.withDeadline(Date.now() + deadlineMs, () => question(ledger));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || error instanceof QueryRejectedError) return undefined;
      throw error;
    }
  }

  /** Each signal costs a ledger a workflow task: what is promoted within a moment goes in one. */
  private promoteSoon(poolId: string, promote: Promotion[]): void {
    this.promotions.set(poolId, promote);
    const sent = sleep(GATHER_MS).then(() => {
      this.promotions.delete(poolId);
      this.pending.delete(sent);
      const message: AdmissionMessage = { acquire: [], release: [], promote };
      this.signal(admissionWorkflowId(poolId), (ledger) => ledger.signal(admissionRequested, message));
    });
    this.pending.add(sent);
  }

  private signal(workflowId: string, send: (handle: WorkflowHandle) => Promise<void>): void {
    this.attempt('signal', workflowId, () => send(this.client.workflow.getHandle(workflowId)));
  }

  private cancel(workflowId: string): void {
    this.attempt('cancel', workflowId, async () => {
      await this.client.workflow.getHandle(workflowId).cancel();
    });
  }

  private attempt(verb: string, workflowId: string, call: () => Promise<void>): void {
    const done: Promise<void> = this.persist(call)
      .catch((error: unknown) => {
        // No such workflow: not started yet, or already gone. The database says what to do with it.
        if (error instanceof WorkflowNotFoundError) return;
        this.log.warn('workflow call failed, workers will make up for it', { verb, workflowId, error });
      })
      .finally(() => this.pending.delete(done));
    this.pending.add(done);
  }

  /** Our own retries end with the call; those of the connection would outlive it. */
  private async persist(call: () => Promise<void>): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      try {
        return await this.client.connection.withDeadline(Date.now() + DEADLINE_MS, call);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) throw error;
        await sleep(pauseMs);
      }
    }
    return this.client.connection.withDeadline(Date.now() + DEADLINE_MS, call);
  }
}
