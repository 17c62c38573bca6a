import type {
  AdmissionLimits,
  AdmissionMessage,
  Demand,
  Lease,
  Release,
  SessionAnswer,
  Ticket,
} from '../contracts/admission.js';
import type { Envelope } from '../contracts/runtime.js';

type Waiting = Ticket & { arrival: number };
type Key = (number | string)[];

const LAST = Number.MAX_SAFE_INTEGER;
const total = (values: number[]): number => values.reduce((sum, value) => sum + value, 0);
const scorecardOf = (holder: string): string => (holder.includes('.') ? holder.slice(5, holder.indexOf('.')) : '');
const isUrgent = ({ class: work }: Ticket): boolean => work === 'interactive';

/** The rules of `Ledger.decide` once more, as plain and slow as they can be said: what the ledger is compared with. */
export class AdmissionModel {
  tickets: Waiting[] = [];
  leases: Lease[] = [];
  caps = new Map<string, { slots: number; quota?: number }>();
  reserved: { holder: string; startBy: number | undefined } | undefined;
  private readings = new Map<string, { at: number; answer: SessionAnswer }>();
  private sinceAged = 3;
  private readonly lastGrants = new Map<string, number>();
  private arrived = 0;

  constructor(
    private nextSeq: number,
    private readonly passes: Map<string, number>,
  ) {}

  receive(
    { acquire, release, promote = [], unpark = [], sessions = [], adopt = [] }: AdmissionMessage,
    now: number,
  ): void {
    for (const given of release) this.release(given);
    for (const ticket of acquire) {
      if (this.leases.some(({ holder }) => holder === ticket.holder)) continue;
      const known = this.tickets.find(({ holder }) => holder === ticket.holder);
      if (!known) this.forgetOldReading(ticket, now);
      this.arrived += 1;
      const { arrival, promotedAt = ticket.promotedAt } = known ?? { arrival: this.arrived };
      this.tickets = this.tickets.filter((other) => other !== known);
      this.tickets.push({ ...ticket, arrival, ...(promotedAt !== undefined && { promotedAt }) });
    }
    for (const { holder, at } of promote) {
      const ticket = this.tickets.find((one) => one.holder === holder);
      if (ticket) ticket.promotedAt ??= at;
    }
    for (const workspace of unpark) {
      const cap = this.caps.get(workspace);
      if (cap) cap.slots = Math.max(cap.slots, this.leasesOf(workspace).length) + 1;
    }
    for (const lease of adopt) {
      if (this.leases.some(({ holder }) => holder === lease.holder)) continue;
      this.withdraw(lease.holder);
      this.leases.push(lease);
    }
    for (const { pool, at, answer } of sessions) {
      if (answer && at >= (this.readings.get(pool)?.at ?? 0)) this.readings.set(pool, { at, answer });
    }
  }

  /** Readings of pools that nobody waits in are not carried. */
  restart(): void {
    const isWaitedIn = (pool: string): boolean => this.tickets.some(({ demand }) => demand.sessionPool === pool);
    this.readings = new Map([...this.readings].filter(([pool]) => isWaitedIn(pool)));
  }

  decide(limits: AdmissionLimits, inForce: Envelope, isOpen: boolean, now: number, max: number) {
    for (const [workspace, cap] of this.caps) {
      const current = limits.workspaces[workspace]?.maxRunning ?? LAST;
      cap.quota ??= current;
      if (cap.quota !== current) this.caps.delete(workspace);
    }
    const refused = this.tickets.filter(({ demand }) => !isWithin(demand, { ...limits.envelope, slots: 1 }));
    for (const { holder } of refused) this.withdraw(holder);
    const granted: [holder: string, seq: number][] = [];
    while (isOpen && granted.length < max) {
      const next = this.next(limits, inForce, now);
      if (!next) break;
      granted.push([next.holder, this.nextSeq]);
      const { holder, to, workspace, demand, expectedMs } = next;
      this.leases.push({
        holder,
        to,
        workspace,
        demand,
        seq: this.nextSeq,
        grantedAt: now,
        ...(expectedMs !== undefined && { expectedMs }),
      });
      for (const key of [workspace, `${workspace} ${scorecardOf(holder)}`]) this.lastGrants.set(key, this.nextSeq);
      this.nextSeq += 1;
      this.withdraw(holder);
      if (this.passed) this.pass(this.passed, inForce, now);
    }
    return { granted, refused: refused.map(({ holder }) => holder).sort() };
  }

  /** All that may be granted anything, in order. */
  inOrder(limits: AdmissionLimits, inForce: Envelope, now: number): Waiting[] {
    const eligible = this.tickets.filter(
      ({ holder, workspace, demand }) =>
        (demand.sessionPool === undefined || this.sessionsOf(demand.sessionPool, inForce.slots, now) >= 1) &&
        !limits.pausedScorecards.includes(scorecardOf(holder)) &&
        this.leasesOf(workspace).length < (this.caps.get(workspace)?.slots ?? LAST) &&
        this.leasesOf(workspace).length < (limits.workspaces[workspace]?.maxRunning ?? LAST),
    );
    const isAgedTurn = this.sinceAged >= 3 && eligible.some(isUrgent);
    const lastOf = (key: string): number => this.lastGrants.get(key) ?? 0;
    const key = (ticket: Waiting): Key => {
      const { holder, workspace, promotedAt, arrival } = ticket;
      const ofWorkspace = this.leasesOf(workspace);
      const ofScorecard = ofWorkspace.filter((lease) => scorecardOf(lease.holder) === scorecardOf(holder));
      const weight = limits.workspaces[workspace]?.weight ?? 1;
      const within =
        promotedAt === undefined
          ? [shareOf(ofScorecard, inForce), lastOf(`${workspace} ${scorecardOf(holder)}`), scorecardOf(holder)]
          : [0, 0, ''];
      return [
        isUrgent(ticket) ? 1 : isAgedTurn && isAged(ticket, now) ? 0 : 2,
        ...[
          shareOf(ofWorkspace, inForce) / weight,
          lastOf(workspace),
          workspace,
          promotedAt ?? LAST,
          ...within,
          arrival,
        ],
      ];
    };
    const keyed = eligible.map((ticket) => ({ ticket, key: key(ticket) }));
    return keyed.sort((one, other) => compare(one.key, other.key)).map(({ ticket }) => ticket);
  }

  roomIn({ slots, memoryMb = Infinity, cpuMillicores = Infinity }: Envelope): Required<Envelope> {
    return {
      slots: slots - this.leases.length,
      memoryMb: memoryMb - total(this.leases.map(({ demand }) => demand.memoryMb ?? 0)),
      cpuMillicores: cpuMillicores - total(this.leases.map(({ demand }) => demand.cpuMillicores ?? 0)),
    };
  }

  /** Tickets of that session pool that may start. */
  private sessionsOf(pool: string, slots: number, now: number): number {
    const ours = this.leases.filter(({ demand }) => demand.sessionPool === pool);
    const { at = 0, answer } = this.readings.get(pool) ?? {};
    if (answer && 'failure' in answer) return slots - ours.length;
    if (!answer || at < now - 60_000) return 0;
    const { total, used = 0 } = answer;
    const unseen = ours.filter(({ grantedAt }) => grantedAt > at - 10_000).length;
    return Math.min(
      slots - ours.length,
      total - ours.length,
      answer.used === undefined ? total : total - used - unseen,
    );
  }

  /** Nobody waited, so nobody kept it fresh. */
  private forgetOldReading({ demand: { sessionPool = '' } }: Ticket, now: number): void {
    const reading = this.readings.get(sessionPool);
    if (!reading || 'failure' in reading.answer || reading.at >= now - 10_000) return;
    if (!this.tickets.some(({ demand }) => demand.sessionPool === sessionPool)) this.readings.delete(sessionPool);
  }

  /** Workspaces that may be granted nothing until they are said to have room. */
  get parked(): string[] {
    return [...this.caps].flatMap(([workspace, { slots }]) =>
      this.leasesOf(workspace).length < slots ? [] : [workspace],
    );
  }

  private leasesOf(workspace: string): Lease[] {
    return this.leases.filter((lease) => lease.workspace === workspace);
  }

  private passed: Waiting | undefined;

  private next(limits: AdmissionLimits, inForce: Envelope, now: number): Waiting | undefined {
    this.passed = undefined;
    const order = this.inOrder(limits, inForce, now);
    const couldStart = order.filter(({ demand }) => isWithin(demand, inForce));
    const reserved = couldStart.find(({ holder }) => holder === this.reserved?.holder);
    if (!reserved) this.reserved = undefined;
    const room = this.roomIn(inForce);
    if (room.slots < 1) return undefined;
    let next = order.find(({ demand }) => isWithin(demand, room));
    if (reserved && isWithin(reserved.demand, room)) next = reserved;
    else if (reserved) {
      const { memoryMb = 0, cpuMillicores = 0 } = reserved.demand;
      const spare = {
        slots: room.slots - 1,
        memoryMb: room.memoryMb - memoryMb,
        cpuMillicores: room.cpuMillicores - cpuMillicores,
      };
      next = order.find(
        ({ demand, expectedMs = LAST }) =>
          isWithin(demand, spare) || (isWithin(demand, room) && now + expectedMs <= (this.reserved?.startBy ?? 0)),
      );
    } else if (next !== couldStart[0]) this.passed = couldStart[0];
    if (!next) return undefined;
    const isAgedGrant = order.some(isUrgent) && !isUrgent(next) && isAged(next, now);
    this.sinceAged = isAgedGrant ? 0 : this.sinceAged + 1;
    return next;
  }

  private pass(ticket: Waiting, inForce: Envelope, now: number): void {
    const passes = (this.passes.get(ticket.holder) ?? 0) + 1;
    this.passes.set(ticket.holder, passes);
    if (passes < 16) return;
    const endOf = ({ grantedAt, expectedMs = LAST }: Lease): number => grantedAt + expectedMs;
    const times = this.leases
      .map(endOf)
      .filter((at) => at < LAST)
      .sort((one, other) => one - other);
    const all = this.leases;
    const startBy = times.find((at) => {
      this.leases = all.filter((lease) => endOf(lease) > at);
      return isWithin(ticket.demand, this.roomIn(inForce));
    });
    this.leases = all;
    this.reserved = { holder: ticket.holder, startBy: startBy && Math.max(startBy, now) };
  }

  private release({ holder, seq, isGone, isOverQuota }: Release): void {
    const lease = this.leases.find((one) => one.holder === holder && (isGone || one.seq === seq));
    if (lease) {
      this.leases = this.leases.filter((other) => other !== lease);
      if (isOverQuota) this.caps.set(lease.workspace, { slots: this.leasesOf(lease.workspace).length });
    }
    if (isGone || seq === undefined) this.withdraw(holder);
  }

  private withdraw(holder: string): void {
    const withdrawn = this.tickets.find((ticket) => ticket.holder === holder);
    this.tickets = this.tickets.filter((ticket) => ticket !== withdrawn);
    if (withdrawn && this.tickets.every(({ workspace }) => workspace !== withdrawn.workspace)) {
      this.caps.delete(withdrawn.workspace);
    }
    this.passes.delete(holder);
    if (this.reserved?.holder === holder) this.reserved = undefined;
  }
}

const isAged = ({ askedAt }: Ticket, now: number): boolean => now - askedAt >= 60_000;

export const isWithin = ({ memoryMb, cpuMillicores }: Demand, room: Envelope): boolean =>
  room.slots >= 1 &&
  (memoryMb === undefined || memoryMb <= (room.memoryMb ?? Infinity)) &&
  (cpuMillicores === undefined || cpuMillicores <= (room.cpuMillicores ?? Infinity));

const shareOf = (leases: Lease[], { slots, memoryMb = Infinity, cpuMillicores = Infinity }: Envelope): number =>
  Math.max(
    leases.length / Math.max(1, slots),
    total(leases.map(({ demand }) => demand.memoryMb ?? 0)) / memoryMb,
    total(leases.map(({ demand }) => demand.cpuMillicores ?? 0)) / cpuMillicores,
  );

function compare(one: Key, other: Key): number {
  for (const [i, value] of one.entries()) {
    const against = other[i] ?? 0;
    if (value !== against) return value < against ? -1 : 1;
  }
  return 0;
}
