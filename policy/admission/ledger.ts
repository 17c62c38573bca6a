import type { AdmissionLimits, AdmissionMessage, Lease, Release, Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type Decision, type Delivery, MAX_GRANTS, MAX_REFUSALS, type Refusal } from './decision.js';
import { inOrder } from './in-order.js';
import { LedgerBook } from './ledger-book.js';
import type { LimitsInForce } from './limits.js';
import type { Waiter } from './lines.js';
import { Picker } from './picker.js';
import { freeOf, less, wholeOf } from './room.js';
import { scorecardOf } from './shares.js';

/** As many as continue-as-new can carry in 1 MB. */
export const MAX_TICKETS = 5_000;
/** Leases ever granted in one epoch: their numbers never meet those of another one. */
const SEQS_PER_EPOCH = 1e9;

/** Leases and queue of one pool. It changes in place, and knows neither clock nor world. */
export class Ledger extends LedgerBook {
  /** The ledger of a new epoch: live attempts keep their leases, waiting runs queue again in the order given. */
  static open(epoch: number, leases: readonly Lease[], tickets: readonly Ticket[]): Ledger {
    return new Ledger({ epoch, nextSeq: epoch * SEQS_PER_EPOCH, leases, tickets });
  }

  /**
   * The order in which tickets would start if each fitted, by what is in use now: rules 1 to 6 of `decide`. It may place
   * lines anew by these limits, as the next decision does by its own: no decision depends on who asked before.
   */
  inOrder(limits: AdmissionLimits, now: number): Iterable<Ticket> {
    this.follow(limits, now);
    return inOrder(this.order, this.reservation?.holder, this.aged, now);
  }

  /**
   * Applies messages in order; in each releases go first, then requests, then the rest. Returns grants that are due again.
   * 1. A release with `seq` drops the lease of that number; without one, the ticket; of a holder that is gone, both.
   * 2. One over quota parks its workspace: from then on it holds no more here than it does now, and one more for each
   *    word that it may have room, until it has another quota or no ticket left.
   * 3. An acquire by a holder with a lease is a lost or repeated message: the same grant is due again, to who asks now.
   * 4. An acquire by a holder that waits keeps its place.
   * 5. In a full queue the newest ticket of the workspace with the most gives way to one of a workspace that has fewer
   *    even with it. Any other new ticket is not taken, nor one of a further session pool where many are waited in.
   *    Who asked, asks again.
   */
  receive(messages: readonly AdmissionMessage[], now: number): Delivery[] {
    const again = new Map<string, Delivery>();
    for (const { acquire, release, promote = [], unpark = [], adopt = [], sessions = [], ...more } of messages) {
      for (const given of release) if (this.release(given, now)) again.delete(given.holder);
      for (const ticket of acquire) {
        const lease = this.held.get(ticket.holder);
        if (lease) {
          this.held.set(ticket.holder, { ...lease, to: ticket.to });
          again.set(ticket.holder, { holder: ticket.holder, seq: lease.seq, epoch: this.epoch, to: ticket.to });
        } else this.enqueue(ticket, now);
      }
      for (const { holder, at } of promote) this.promote(holder, at);
      for (const workspace of unpark) this.unpark(workspace);
      for (const lease of adopt) this.adopt(lease);
      for (const read of sessions) this.sessions.note(read);
      if (more.resetCircuit) this.circuit.reset();
      if (more.probe) this.circuit.looked(more.probe.holder, more.probe.isRunning, now);
    }
    return [...again.values()];
  }

  /**
   * Which waiting tickets start now. They hold their demand from here on, before anyone is told.
   * 1. The ticket that room is kept for, once it fits.
   * 2. Interactive tickets before batch ones. A batch ticket that waited 60 s is aged: while interactive ones wait, aged
   *    ones go first if none of the last three grants went to one.
   * 3. Between workspaces the one with the lower share: of slots, memory or CPU, what it has most of in use now, over
   *    its weight. A workspace's promoted tickets go before its others, as they were promoted.
   * 4. Between scorecards of a workspace the one with the lower share; single runs count as one scorecard.
   * 5. In order of arrival.
   * 6. Among equals in shares it is the turn of who was granted something longer ago; else the id decides, so that the
   *    order is total.
   * 7. Passed over are paused scorecards, workspaces at their quota, and tickets whose session pool is full
   *    or was not asked yet.
   * 8. A ticket fits if slots, declared memory and declared CPU all stay within the envelope; an exact fit fits. What it
   *    does not declare is not counted, even where that sum is already full. What does not fit is passed over.
   * 9. Whoever is first of all that would fit into the empty envelope is passed by each grant behind it. After 16 such
   *    grants room is kept for it, and for nobody else, until it starts, is withdrawn, or cannot start for another
   *    reason: on each axis that it declares others take only what is free beyond its demand, and one slot stays free.
   * 10. What fits and ends, as far as durations are known, before the ticket that room is kept for can start, may start.
   * 11. A ticket that asks for more than the whole envelope is refused.
   * 12. While the circuit of the runtime is open nothing is granted, and then one ticket, until that has shown how it ends.
   */
  decide(limits: AdmissionLimits, now: number, max = MAX_GRANTS): Decision {
    const { envelope, isOpen } = this.follow(limits, now);
    for (const workspace of this.standing.forgetChangedQuotas()) this.order.place(workspace, '');
    const refused = this.refuse(limits.envelope, now);
    const granted: Delivery[] = [];
    const picker = new Picker(this.order, this.reservations, this.aged, envelope, now);
    const most = isOpen ? Math.min(max, this.circuit.room(now)) : 0;
    while (granted.length < most) {
      const free = less(wholeOf(envelope), this.inUse);
      const pick = picker.pick(free);
      if (!pick) break;
      const { waiter, by, passed } = pick;
      const { holder } = waiter.ticket;
      const passes = this.reservations.passes.get(holder) ?? 0;
      this.log.add({ what: 'granted', at: now, holder, by, free: freeOf(envelope, free), passes });
      granted.push(this.grant(waiter, now));
      this.sessions.look(envelope.slots, now, this.order);
      if (passed && this.reservations.pass(passed.ticket.holder)) {
        const reserved = picker.reserve(passed, less(wholeOf(envelope), this.inUse), this.held.values());
        this.log.add({ what: 'reserved', at: now, ...reserved });
      }
    }
    return { granted, refused, isCut: granted.length === max || refused.length === MAX_REFUSALS };
  }

  private follow(limits: AdmissionLimits, now: number): LimitsInForce {
    const { inForce, isChanged } = this.standing.follow(limits, now);
    if (isChanged) this.order.placeAll();
    this.sessions.look(inForce.envelope.slots, now, this.order);
    return inForce;
  }

  /** Whether it ended a lease. */
  private release({ holder, seq, isGone, isOverQuota, end }: Release, now: number): boolean {
    const lease = this.held.get(holder);
    const isEnd = lease !== undefined && (isGone === true || (seq !== undefined && lease.seq === seq));
    if (isEnd) {
      this.held.delete(holder);
      this.inUseNow.remove(lease);
      this.sessions.giveBack(lease);
      this.circuit.ended(holder, end, now);
      if (isOverQuota) this.standing.park(lease.workspace);
      this.order.place(lease.workspace, scorecardOf(holder));
    }
    if (isGone === true || seq === undefined) this.withdraw(holder);
    return isEnd;
  }

  private withdraw(holder: string): void {
    const workspace = this.order.remove(holder)?.ticket.workspace;
    if (workspace !== undefined && this.order.countOf(workspace) === 0) this.standing.forgetCap(workspace);
    this.reservations.forget(holder);
  }

  private adopt(lease: Lease): void {
    if (this.held.has(lease.holder)) return;
    this.withdraw(lease.holder);
    this.hold(lease);
    this.order.place(lease.workspace, scorecardOf(lease.holder));
  }

  private grant({ ticket }: Waiter, now: number): Delivery {
    const { holder, to, workspace, demand, expectedMs } = ticket;
    const seq = this.nextSeq;
    this.nextSeq += 1;
    this.withdraw(holder);
    const expected = expectedMs === undefined ? {} : { expectedMs };
    this.hold({ holder, to, workspace, seq, demand, grantedAt: now, ...expected });
    this.circuit.granted(holder, now);
    for (const [one, scorecard = ''] of this.inUseNow.lastGrants.note(workspace, scorecardOf(holder), seq)) {
      this.order.place(one, scorecard);
    }
    return { holder, seq, epoch: this.epoch, to };
  }

  private enqueue(ticket: Ticket, now: number): void {
    const { holder } = ticket;
    // Earlier workers did not say whose it is.
    const workspace = ticket.workspace ?? '';
    const isNew = !this.order.get(holder);
    if (isNew && !this.sessions.mayWait(ticket)) return;
    if (isNew && this.waiting >= MAX_TICKETS) {
      const newest = this.order.newestAbove(workspace)?.ticket.holder;
      if (newest === undefined) return;
      this.withdraw(newest);
      this.log.add({ what: 'evicted', at: now, holder: newest, madeRoomFor: holder });
    }
    if (isNew) this.sessions.arrive(ticket, now);
    if (this.order.put({ ...ticket, workspace })) this.demands.add(holder);
  }

  private promote(holder: string, at: number): void {
    const ticket = this.ticketOf(holder);
    if (ticket && ticket.promotedAt === undefined) this.order.put({ ...ticket, promotedAt: at });
  }

  private unpark(workspace: string): void {
    if (this.standing.unpark(workspace)) this.order.place(workspace, '');
  }

  private refuse(envelope: Envelope, now: number): Refusal[] {
    return this.demands.excessive(envelope, MAX_REFUSALS).map(({ ticket: { holder, to }, excess }) => {
      this.withdraw(holder);
      this.log.add({ what: 'refused', at: now, holder, ...excess });
      return { holder, to, ...excess };
    });
  }
}
