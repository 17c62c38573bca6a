import type { AdmissionLimits, Demand, Lease, Ticket } from '../../contracts/admission.js';
import type {
  DemandView,
  LeaseView,
  PoolView,
  QueuedTicket,
  QueuePage,
  QueueRequest,
  ReservationView,
  SessionPoolView,
} from '../../contracts/admission-view.js';
import type { Waiting } from '../../contracts/waiting.js';
import { AGED_AFTER_MS } from './ageing.js';
import { decisionView } from './decision-words.js';
import type { Ledger } from './ledger.js';
import { dialAt, limitsAt } from './limits.js';
import { Reasons } from './reasons.js';
import type { SessionPoolState } from './session-pools.js';

/** Entries of one list in an answer: a query carries little, and nobody reads more. */
const MOST_LISTED = 200;

/** Everything that is asked of a pool is answered from this. */
export interface Seen {
  /** Id of the runtime. */
  runtime: string;
  ledger: Ledger;
  limits: AdmissionLimits;
  now: number;
}

export function viewPool({ ledger, limits, now }: Seen): PoolView {
  const { envelope } = limits;
  const dial = dialAt(limits.dial, now);
  const leases = [...ledger.leases.values()].sort((one, other) => one.grantedAt - other.grantedAt);
  const waiting = { interactive: 0, batch: 0, aged: 0 };
  for (const { class: workClass, askedAt } of ledger.inOrder(limits, now)) {
    waiting[workClass] += 1;
    if (workClass === 'batch' && now - askedAt >= AGED_AFTER_MS) waiting.aged += 1;
  }
  return {
    envelope,
    limits: limitsAt(limits, now).envelope,
    dial: dial ? { ...dial, until: endOf(dial.until), limitsUntil: endOf(dial.limitsUntil) } : null,
    inUse: { ...ledger.inUse },
    leases: leases.slice(0, MOST_LISTED).map(leaseView),
    moreLeases: Math.max(0, leases.length - MOST_LISTED),
    waiting,
    reservation: reservationView(ledger),
    parkedWorkspaces: ledger.parked.slice(0, MOST_LISTED),
    pausedScorecards: limits.pausedScorecards.slice(0, MOST_LISTED),
    sessionPools: ledger.sessions.states(now).slice(0, MOST_LISTED).map(sessionPoolView),
    circuit: ledger.circuit.view,
    decisions: ledger.decisions.map(decisionView),
  };
}

/**
 * A part of the queue, in the order in which tickets are considered. A page goes on behind the last ticket of the one
 * before; if that waits no more, as far before its place as grants were made since, so that none is left out.
 */
export function pageQueue(seen: Seen, { after, limit, workspace }: QueueRequest): QueuePage {
  const tickets = [...seen.ledger.inOrder(seen.limits, seen.now)];
  const reasons = new Reasons(seen.runtime, seen.ledger, seen.limits, seen.now);
  const wanted = (ticket: Ticket): boolean => workspace === undefined || ticket.workspace === workspace;
  const page: QueuedTicket[] = [];
  let index = after === undefined ? 0 : placeAfter(after, tickets, seen.ledger.nextLease);
  for (; index < tickets.length && page.length < Math.min(limit, MOST_LISTED); index += 1) {
    const ticket = tickets[index];
    if (ticket && wanted(ticket)) page.push(queuedTicket(ticket, index, reasons));
  }
  const last = page.at(-1);
  const hasMore = last !== undefined && tickets.slice(index).some(wanted);
  return {
    tickets: page,
    total: tickets.filter(wanted).length,
    next: hasMore ? `${last.position}-${seen.ledger.nextLease}-${last.run}` : null,
  };
}

/** What each of these runs waits for. Absent: the ledger has never heard of it, or has it no more. */
export function explainWaiting(seen: Seen, runs: readonly string[]): Record<string, Waiting> {
  const reasons = new Reasons(seen.runtime, seen.ledger, seen.limits, seen.now);
  const wanted = new Set(runs);
  const found: Record<string, Waiting> = {};
  let ahead = 0;
  for (const ticket of seen.ledger.inOrder(seen.limits, seen.now)) {
    const run = runOf(ticket);
    if (wanted.has(run)) found[run] = { ...reasons.of(ticket), ahead };
    ahead += 1;
  }
  for (const run of runs) {
    if (!seen.ledger.leases.has(`case:${run}`)) continue;
    found[run] = { reason: 'placement', scope: `runtime ${seen.runtime}`, limit: null, used: null, ahead: 0 };
  }
  return found;
}

/** Where a page begins that goes on after `cursor`. */
function placeAfter(cursor: string, tickets: readonly Ticket[], grantedNow: number): number {
  const [, position, granted, run] = /^(\d+)-(\d+)-(.+)$/.exec(cursor) ?? [];
  const index = tickets.findIndex((ticket) => runOf(ticket) === run);
  return index >= 0 ? index + 1 : Math.max(0, Number(position ?? 0) - 1 - (grantedNow - Number(granted ?? 0)));
}

function reservationView(ledger: Ledger): ReservationView | null {
  const ticket = ledger.reservation && ledger.ticketOf(ledger.reservation.holder);
  if (!ticket) return null;
  const { workspace, demand, askedAt } = ticket;
  return { run: runOf(ticket), workspace, demand: demandView(demand), askedAt: timeOf(askedAt) };
}

const queuedTicket = (ticket: Ticket, index: number, reasons: Reasons): QueuedTicket => ({
  position: index + 1,
  run: runOf(ticket),
  workspace: ticket.workspace,
  class: ticket.class,
  demand: demandView(ticket.demand),
  askedAt: timeOf(ticket.askedAt),
  promotedAt: ticket.promotedAt === undefined ? null : timeOf(ticket.promotedAt),
  waiting: { ...reasons.of(ticket), ahead: index },
});

const leaseView = ({ workspace, seq, demand, grantedAt, ...lease }: Lease): LeaseView => ({
  ...{ run: runOf(lease), workspace, seq },
  demand: demandView(demand),
  grantedAt: timeOf(grantedAt),
});

function sessionPoolView({ pool: name, ours, waiting, said }: SessionPoolState): SessionPoolView {
  const rest = { name, ours, waiting, readAt: said ? timeOf(said.at) : null };
  if (!said) return { ...rest, state: 'unread', total: null, used: null, failure: null };
  const { answer } = said;
  if ('failure' in answer) return { ...rest, state: 'failed', total: null, used: null, failure: answer.failure };
  return { ...rest, state: 'reading', total: answer.total, used: answer.used ?? null, failure: null };
}

const demandView = ({ memoryMb, cpuMillicores, sessionPool }: Demand): DemandView => ({
  memoryMb: memoryMb ?? null,
  cpuMillicores: cpuMillicores ?? null,
  sessionPool: sessionPool ?? null,
});

const runOf = ({ holder }: { holder: string }): string => holder.replace(/^case:/, '');
const endOf = (ms: number | undefined): string | null => (ms === undefined ? null : timeOf(ms));
const timeOf = (ms: number): string => new Date(ms).toISOString();
