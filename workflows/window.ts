import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { AdmissionActivities, RequestedTicket } from '../activities/admission.activities.js';
import type { ScorecardActivities, Unplaced } from '../activities/scorecard.activities.js';
import type { Grant, Release } from '../contracts/admission.js';
import type { OpenRun } from '../policy/partition.js';
import { inBackground } from './background.js';
import { caseWorkflow } from './case.workflow.js';
import {
  type CaseInput,
  caseStart,
  casesEnded,
  caseWorkflowId,
  runPromoted,
  runsSettled,
  slotsGranted,
  type WindowInput,
  windowDrained,
  windowWidened,
} from './messages.js';
import { reAskPace } from './pace.js';
import { CONTROL } from './proxies.js';
import { reclaimRun } from './reclaim-run.js';
import { WindowCases } from './window-cases.js';

const { requestAdmission } = proxyActivities<AdmissionActivities>(CONTROL);
const { settleUnplaced } = proxyActivities<ScorecardActivities>(CONTROL);

/** Part of the width that comes free before more is asked for. Pools have fewer slots than that leaves in flight. */
const REFILL_SHARE = 4;

/** What a window does, and what it is told meanwhile. Signals only note things; `pass` acts on them. */
export class Window {
  width: number;
  private readonly cases: WindowCases;
  private readonly inbox: Grant[] = [];
  /** By pool. */
  private releases = new Map<string, Release[]>();
  private readonly poolOf = new Map<string, string>();
  private readonly pace = reAskPace();
  private isAsking = false;
  private isDraining = false;
  /** Tickets that expired are being settled: the list of runs is not to be read anew before that. */
  private isGivingUp = false;
  private mustAskAll = false;
  private wasGranted = false;
  private reported: number;
  /** Cases that ended, and that the root does not know of. */
  private untold = 0;

  constructor(
    private readonly input: WindowInput,
    /** Whether to take no more on. */
    private readonly isLong: () => boolean,
  ) {
    this.width = input.width;
    this.reported = input.width;
    const { workspaceId, scorecardId, isCapped } = input;
    this.cases = new WindowCases({ workspaceId, scorecardId, isCapped, windowId: workflowInfo().workflowId });
    setHandler(slotsGranted, (grants) => {
      this.inbox.push(...grants);
    });
    setHandler(runsSettled, (holders) => {
      for (const holder of holders) if (this.cases.drop(holder)) this.release({ holder });
    });
    setHandler(runPromoted, (runId) => this.cases.promote(runId));
    setHandler(windowWidened, (width) => {
      this.width = width;
      this.reported = width;
    });
    inBackground(() => this.keepAsking());
  }

  /** Brings these runs to their end, or as many of them as a history holds. */
  async pass(runs: OpenRun[], queueDeadlineSec: number): Promise<void> {
    for (const { runId, poolId } of runs) this.poolOf.set(caseWorkflowId(runId), poolId);
    this.cases.load(runs, queueDeadlineSec);
    for (const open of this.cases.startOpen()) this.start(open);
    for (;;) {
      // Each term is cleared by what follows, or the workflow would spin.
      await condition(() => this.inbox.length > 0 || this.isOver() || this.canAsk() || this.mustReport());
      this.startGranted();
      if (this.isLong()) this.withdrawTickets();
      if (this.isOver()) return;
      if (this.canAsk()) inBackground(() => this.ask());
      if (this.mustReport()) this.report();
      setCurrentDetails(
        `${this.cases.running} running, ${this.cases.waiting} waiting, ${this.cases.remaining} to ask for`,
      );
    }
  }

  /** On cancel: nothing more starts, the tickets go back at once, and the cases, cancelled with this workflow, end. */
  async drain(): Promise<void> {
    this.isDraining = true;
    this.withdrawTickets();
    for (;;) {
      await condition(() => !this.isAsking && (this.mustSend() || this.cases.running === 0));
      this.startGranted();
      if (this.releases.size > 0) await this.ask();
      else if (this.cases.running === 0) return;
    }
  }

  /** Gives back what came too late. */
  async close(): Promise<void> {
    for (;;) {
      this.startGranted();
      if (this.releases.size === 0) return;
      await this.ask();
    }
  }

  private isOver(): boolean {
    const hasMore = this.cases.remaining > 0 && !this.isLong();
    const isIdle = !this.isAsking && !this.isGivingUp && this.releases.size === 0;
    return this.cases.inFlight === 0 && !hasMore && isIdle;
  }

  private mustSend(): boolean {
    return this.inbox.length > 0 || this.releases.size > 0;
  }

  private canAsk(): boolean {
    if (this.isAsking) return false;
    const refill = this.input.isCapped ? 1 : Math.max(1, Math.floor(this.width / REFILL_SHARE));
    const isRefill = !this.isLong() && this.cases.canAsk(this.width, refill);
    return this.mustAskAll || this.releases.size > 0 || isRefill;
  }

  /** One message per pool, one flight at a time: what comes up meanwhile goes with the next. */
  private async ask(): Promise<void> {
    this.isAsking = true;
    try {
      const fresh =
        this.isLong() || this.isDraining
          ? new Map<string, RequestedTicket[]>()
          : this.cases.askNext(this.width, Date.now());
      const acquire = this.mustAskAll ? this.cases.askAgain() : fresh;
      const { releases } = this;
      this.mustAskAll = false;
      this.releases = new Map();
      const pools = new Set([...acquire.keys(), ...releases.keys()]);
      await CancellationScope.nonCancellable(() =>
        Promise.all(
          [...pools].map((poolId) => this.send(poolId, acquire.get(poolId) ?? [], releases.get(poolId) ?? [])),
        ),
      );
    } finally {
      this.isAsking = false;
    }
  }

  private async send(poolId: string, acquire: RequestedTicket[], release: Release[]): Promise<void> {
    const { settled } = await requestAdmission({ poolId, acquire, release });
    for (const holder of settled) {
      this.cases.drop(holder);
      this.release({ holder });
    }
  }

  private startGranted(): void {
    const { start, unwanted } = this.cases.accept(this.inbox.splice(0));
    if (start.length > 0) this.wasGranted = true;
    for (const input of start) this.start(input);
    for (const { holder, seq } of unwanted) this.release({ holder, seq });
  }

  private release(release: Release): void {
    const poolId = this.poolOf.get(release.holder);
    // A run that is not listed had its outcome before: each pool of this window can tell whether the lease is its own.
    const pools = poolId === undefined ? new Set(this.poolOf.values()) : [poolId];
    for (const pool of pools) this.releases.set(pool, [...(this.releases.get(pool) ?? []), release]);
  }

  private start(input: CaseInput): void {
    inBackground(() => this.run(input));
  }

  /** One case, to its end; if it was terminated or failed, or cancelled before it began, cleaned up after. */
  private async run(input: CaseInput): Promise<void> {
    const holder = caseWorkflowId(input.runId);
    let hasBegun = false;
    try {
      const begun = await startChild(caseWorkflow, {
        ...caseStart(input, workflowInfo().taskTimeoutMs),
        // The database says whether the run still needs one.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
      hasBegun = true;
      await begun.result();
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      // A case that is cancelled gives everything back itself, if it ever began.
      if (!isCancellation(error)) await this.repair(input);
      else if (!hasBegun) await this.repair(input, { kind: 'cancelled' });
    } finally {
      this.cases.ended(holder);
      this.countEnded();
    }
  }

  /** What the root makes its judgement by is in the database: it only has to be told to look. */
  private countEnded(): void {
    const { judgeStep } = this.input;
    const { parent } = workflowInfo();
    this.untold += 1;
    if (!parent || judgeStep === undefined || this.untold < judgeStep) return;
    this.untold = 0;
    inBackground(() => getExternalWorkflowHandle(parent.workflowId).signal(casesEnded));
  }

  /** What cannot be cleaned up after in time keeps its slot, for the sweep; a run still without outcome is met again. */
  private async repair({ runId, kind }: CaseInput, end?: Unplaced): Promise<void> {
    try {
      await CancellationScope.nonCancellable(() => reclaimRun({ runId, kind, end }));
      this.release({ holder: caseWorkflowId(runId), isGone: true });
    } catch (error) {
      log.warn('a case could not be cleaned up after, the sweep tries again', { runId, error });
    }
  }

  private withdrawTickets(): void {
    for (const { release } of this.cases.withdrawAll()) this.release(release);
  }

  /** Heals lost messages and enforces the queue deadline, by one timer that runs while anything waits. */
  private async keepAsking(): Promise<void> {
    for (;;) {
      await condition(() => this.cases.waiting > 0);
      await sleep(Math.min(this.pace.nextMs(), this.cases.untilDeadlineMs(Date.now())));
      if (this.wasGranted) this.pace.reset();
      else this.mustAskAll = this.cases.waiting > 0;
      this.wasGranted = false;
      this.isGivingUp = true;
      try {
        for (const late of this.cases.expire(Date.now())) await this.giveUp(late);
      } finally {
        this.isGivingUp = false;
      }
    }
  }

  private async giveUp({ run, waitedMs }: { run: OpenRun; waitedMs: number }): Promise<void> {
    const reason = `waited ${Math.round(waitedMs / 1_000)} s for a slot`;
    await settleUnplaced({ runId: run.runId, end: { kind: 'errored', code: 'QUEUE_TIMEOUT', reason } });
    this.release({ holder: caseWorkflowId(run.runId) });
  }

  /** Enough of the width is no longer needed here that it could serve the next window. */
  private mustReport(): boolean {
    const { inFlight, remaining } = this.cases;
    return remaining === 0 && inFlight > 0 && this.reported - inFlight >= this.input.reportStep;
  }

  private report(): void {
    const { parent } = workflowInfo();
    const { inFlight } = this.cases;
    this.reported = inFlight;
    if (!parent) return;
    const root = getExternalWorkflowHandle(parent.workflowId);
    inBackground(() => root.signal(windowDrained, { index: this.input.index, inFlight }));
  }
}
