import type { RequestedTicket } from '../activities/admission.activities.js';
import type { Grant, Release } from '../contracts/admission.js';
import type { OpenRun } from '../policy/partition.js';
import { type CaseInput, caseWorkflowId } from './messages.js';

/** A ticket in the pool's queue. */
interface Wanted {
  run: OpenRun;
  askedAt: number;
}

interface Scope {
  workspaceId: string;
  scorecardId: string;
  /** The window's own id: who is told of grants. */
  windowId: string;
  /** The width is what somebody allowed: nothing goes beyond it. */
  isCapped?: boolean;
}

/** Where each case of a window is: not asked for yet, waiting for a slot, or started. */
export class WindowCases {
  private runs: OpenRun[] = [];
  private next = 0;
  /** Runs that somebody wants before the others, whatever the width. */
  private readonly promoted = new Set<string>();
  private queueDeadlineMs = 0;
  private readonly wanted = new Map<string, Wanted>();
  private readonly started = new Set<string>();

  constructor(private readonly scope: Scope) {}

  load(runs: OpenRun[], queueDeadlineSec: number): void {
    this.runs = [...runs];
    this.next = 0;
    this.queueDeadlineMs = queueDeadlineSec * 1_000;
    for (const { runId, isPromoted } of runs) if (isPromoted || this.promoted.has(runId)) this.promote(runId);
  }

  /** Wanted before the others, if it is not asked for yet. */
  promote(runId: string): void {
    this.promoted.add(runId);
    const at = this.runs.findIndex((run, i) => i >= this.next && run.runId === runId);
    const [run] = at < 0 ? [] : this.runs.splice(at, 1);
    if (run) this.runs.splice(this.next + this.urgent, 0, run);
  }

  /** How many of those that are next were promoted. */
  private get urgent(): number {
    if (this.promoted.size === 0) return 0;
    const end = this.runs.findIndex((run, i) => i >= this.next && !this.promoted.has(run.runId));
    return (end < 0 ? this.runs.length : end) - this.next;
  }

  /** How many of those that are next do not wait for width. */
  private get beyond(): number {
    return this.scope.isCapped ? 0 : this.urgent;
  }

  get remaining(): number {
    return this.runs.length - this.next;
  }
  get waiting(): number {
    return this.wanted.size;
  }
  get running(): number {
    return this.started.size;
  }
  get inFlight(): number {
    return this.wanted.size + this.started.size;
  }

  /** Runs whose attempt is open hold their slot already. Taken out of what is left to ask for. */
  startOpen(): CaseInput[] {
    const open = this.runs.filter(({ openSeq }) => openSeq !== undefined);
    this.runs = this.runs.filter(({ openSeq }) => openSeq === undefined);
    return open.map((run) => {
      this.started.add(caseWorkflowId(run.runId));
      return { ...this.inputOf(run), grant: { seq: run.openSeq ?? 0, epoch: 0 }, isOpen: true };
    });
  }

  /** Whether enough of the width is free to ask for more; `refill` is how many at a time. */
  canAsk(width: number, refill: number): boolean {
    return this.beyond > 0 || (this.remaining > 0 && width - this.inFlight >= Math.min(refill, this.remaining));
  }

  /** The next runs, as far as the width allows, and beyond it those that were promoted. They wait from now on, or since an earlier window asked for them. */
  askNext(width: number, now: number): Map<string, RequestedTicket[]> {
    const upTo = Math.min(this.runs.length, this.next + Math.max(this.beyond, width - this.inFlight));
    const asked = this.runs.slice(this.next, upTo);
    this.next = upTo;
    const fresh = asked.map((run): Wanted => ({ run, askedAt: run.askedAt ?? now }));
    for (const wanted of fresh) this.wanted.set(caseWorkflowId(wanted.run.runId), wanted);
    return this.ticketsOf(fresh);
  }

  /** Every ticket again, in case one was lost. */
  askAgain(): Map<string, RequestedTicket[]> {
    return this.ticketsOf(this.wanted.values());
  }

  /** Cases that may start, and grants that nobody here wants. One for a case that runs is that case's own affair. */
  accept(grants: readonly Grant[]): { start: CaseInput[]; unwanted: Grant[] } {
    const start: CaseInput[] = [];
    const unwanted: Grant[] = [];
    for (const grant of grants) {
      const { holder, seq, epoch } = grant;
      const wanted = this.wanted.get(holder);
      if (wanted) {
        this.wanted.delete(holder);
        this.started.add(holder);
        start.push({ ...this.inputOf(wanted.run), askedAt: wanted.askedAt, grant: { seq, epoch } });
      } else if (!this.started.has(holder)) unwanted.push(grant);
    }
    return { start, unwanted };
  }

  ended(holder: string): void {
    this.started.delete(holder);
  }

  /** No longer waits: its run has an outcome. Whether it waited. */
  drop(holder: string): boolean {
    return this.wanted.delete(holder);
  }

  /** Takes every ticket back. */
  withdrawAll(): { poolId: string; release: Release }[] {
    const withdrawn = [...this.wanted].map(([holder, { run }]) => ({ poolId: run.poolId, release: { holder } }));
    this.wanted.clear();
    return withdrawn;
  }

  /** Takes back the tickets that waited too long. */
  expire(now: number): { run: OpenRun; waitedMs: number }[] {
    const late = [...this.wanted.values()].filter(({ askedAt }) => now - askedAt >= this.queueDeadlineMs);
    return late.map(({ run, askedAt }) => {
      this.wanted.delete(caseWorkflowId(run.runId));
      return { run, waitedMs: now - askedAt };
    });
  }

  /** How long until the first ticket has waited too long. */
  untilDeadlineMs(now: number): number {
    let leftMs = Number.POSITIVE_INFINITY;
    for (const { askedAt } of this.wanted.values()) leftMs = Math.min(leftMs, askedAt + this.queueDeadlineMs - now);
    return Math.max(1, leftMs);
  }

  private ticketsOf(wanted: Iterable<Wanted>): Map<string, RequestedTicket[]> {
    const byPool = new Map<string, RequestedTicket[]>();
    for (const { run, askedAt } of wanted) {
      const holder = caseWorkflowId(run.runId);
      const ticket = { holder, to: this.scope.windowId, class: run.class, demand: run.demand, askedAt };
      byPool.set(run.poolId, [...(byPool.get(run.poolId) ?? []), ticket]);
    }
    return byPool;
  }

  private inputOf({ openSeq: _open, isPromoted: _promoted, ...run }: OpenRun): CaseInput {
    const { workspaceId, scorecardId } = this.scope;
    return { workspaceId, scorecardId, ...run, queueDeadlineSec: this.queueDeadlineMs / 1_000 };
  }
}
