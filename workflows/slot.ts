import {
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { AdmissionActivities } from '../activities/admission.activities.js';
import type { Grant, Release } from '../contracts/admission.js';
import { type CaseInput, caseWorkflowId, DEFAULT_QUEUE_DEADLINE_SEC, runsSettled, slotsGranted } from './messages.js';
import { reAskPace } from './pace.js';
import { CONTROL } from './proxies.js';

const { requestAdmission } = proxyActivities<AdmissionActivities>(CONTROL);

/** What came of waiting: a grant, the queue deadline, or the news that the run has its outcome already. */
export type Awaited = { kind: 'granted'; grant: Grant } | { kind: 'expired'; waitedMs: number } | { kind: 'settled' };

/** The slot of one case: asked for by the case itself, held, given back. */
export class Slot {
  readonly holder: string;
  private held: Grant | undefined;
  private offered: Grant | undefined;
  private isWanting = false;
  /** Its ticket was refused: the run has its outcome. */
  private isSettled = false;
  /** Given back with the next request. */
  private overQuota: Release[] = [];
  /** When the present wait began, epoch ms: a grant that could not be used does not begin a new one. */
  private askedAt: number | undefined;

  constructor(private readonly input: CaseInput) {
    this.holder = caseWorkflowId(input.runId);
    this.askedAt = input.askedAt;
    if (input.grant) this.held = { holder: this.holder, ...input.grant };
    setHandler(slotsGranted, (grants) => this.receive(grants));
    setHandler(runsSettled, (holders) => {
      this.isSettled ||= holders.includes(this.holder);
    });
  }

  get grant(): Grant | undefined {
    return this.held;
  }

  /** A grant that is no longer wanted goes back at once; one that is held already came twice. */
  private async receive(grants: Grant[]): Promise<void> {
    const mine = grants.filter(({ holder }) => holder === this.holder);
    const [newest] = mine.sort((one, other) => other.seq - one.seq);
    if (newest === undefined || newest.seq === this.held?.seq) return;
    if (this.isWanting) {
      this.offered = newest;
      return;
    }
    try {
      await CancellationScope.nonCancellable(() => this.send([{ holder: this.holder, seq: newest.seq }]));
    } catch (error) {
      // A failure here would fail the case. The ledger finds the lease by itself once the case has ended.
      log.warn('a grant could not be given back', { seq: newest.seq, error });
    }
  }

  /** Asks and waits, asking again now and then in case a message was lost. */
  async acquire(): Promise<Awaited> {
    const { class: workClass, demand, queueDeadlineSec = DEFAULT_QUEUE_DEADLINE_SEC } = this.input;
    this.askedAt ??= Date.now();
    const { askedAt } = this;
    const pace = reAskPace();
    this.held = undefined;
    this.offered = undefined;
    this.isWanting = true;
    try {
      for (;;) {
        const ticket = { holder: this.holder, to: this.holder, class: workClass, demand, askedAt };
        const release = this.overQuota;
        const { settled } = await requestAdmission({ poolId: this.input.poolId, acquire: [ticket], release });
        this.overQuota = [];
        if (settled.length > 0) return { kind: 'settled' };
        const leftMs = askedAt + queueDeadlineSec * 1_000 - Date.now();
        const isOver = (): boolean => this.isSettled || this.offered !== undefined;
        await condition(isOver, Math.max(1, Math.min(pace.nextMs(), leftMs)));
        if (this.isSettled) return { kind: 'settled' };
        if (this.offered) {
          this.held = this.offered;
          return { kind: 'granted', grant: this.held };
        }
        if (Date.now() - askedAt >= queueDeadlineSec * 1_000)
          return { kind: 'expired', waitedMs: Date.now() - askedAt };
      }
    } finally {
      this.isWanting = false;
      this.offered = undefined;
    }
  }

  /** Gives back this one lease; without a lease, whatever the ledger holds for this case, a ticket included. */
  async release(): Promise<void> {
    const seq = this.held?.seq;
    this.held = undefined;
    await this.send([seq === undefined ? { holder: this.holder, isGone: true } : { holder: this.holder, seq }]);
  }

  /** The workspace is at its quota: the lease goes back with the next request, which waits until there is room. */
  returnOverQuota(): void {
    if (this.held) this.overQuota = [{ holder: this.holder, seq: this.held.seq, isOverQuota: true }];
    this.held = undefined;
  }

  /** The lease ended with its attempt; what is asked for next is a new wait. */
  forget(): void {
    this.held = undefined;
    this.askedAt = undefined;
  }

  /** Grants on their way back must have arrived before the case ends. */
  async settleMessages(): Promise<void> {
    await condition(allHandlersFinished);
  }

  private async send(release: Release[]): Promise<void> {
    await requestAdmission({ poolId: this.input.poolId, acquire: [], release });
  }
}
