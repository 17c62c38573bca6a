import type { Demand, Lease, Ticket, WorkClass } from '../../contracts/admission.js';
import type { DecisionRecord } from '../../contracts/decisions.js';
import type { CircuitState } from './circuit.js';
import { Ledger } from './ledger.js';
import type { LedgerState } from './ledger-state.js';
import type { Reservation } from './reservation.js';
import type { KnownSessions } from './session-pools.js';
import type { QuotaCap } from './standing.js';

/** In place of who is told: the holder itself. */
const ITSELF = -1;

type Maybe<Value> = Value | null;

/** What tickets and leases share; null where nothing is declared or known. `workspace` and `sessionPool` are names. */
type CarriedRest = [
  ...[memoryMb: Maybe<number>, cpuMillicores: Maybe<number>],
  ...[workspace?: number, sessionPool?: Maybe<number>, expectedMs?: Maybe<number>],
];
type CarriedLease = [holder: string, to: number, seq: number, grantedAt: number, rest: CarriedRest];
/** `place`: its number in the order of arrival, over both classes. */
type CarriedTicket = [
  ...[holder: string, to: number, askedAt: number, promotedAt: Maybe<number>, rest: CarriedRest],
  ...[place?: number],
];

/** A ledger as JSON, small: 5,000 tickets stay below 1 MB. Numbers that stand for names are indexes into `names`. */
export interface CarriedLedger {
  epoch: number;
  nextSeq: number;
  names: string[];
  leases: CarriedLease[];
  interactive: CarriedTicket[];
  batch: CarriedTicket[];
  sinceAged?: number;
  passes?: (readonly [holder: string, passes: number])[];
  reservation?: Reservation;
  quotaCaps?: readonly QuotaCap[];
  lastGrants?: (readonly [key: string, seq: number])[];
  sessions?: Readonly<Record<string, KnownSessions>>;
  circuit?: CircuitState;
  decisions?: readonly DecisionRecord[];
}

type Remembered = Omit<LedgerState, 'epoch' | 'nextSeq' | 'leases' | 'tickets'>;

/** What workers handed over before ledgers knew workspaces. */
export interface EarlierCarriedLedger {
  epoch: number;
  nextSeq: number;
  tos: string[];
  leases: [holder: string, to: number, seq: number, grantedAt: number, Maybe<number>, Maybe<number>][];
  interactive: EarlierTicket[];
  batch: EarlierTicket[];
}
type EarlierTicket = [holder: string, to: number, askedAt: number, Maybe<number>, Maybe<number>];

export function carryLedger(ledger: Ledger): CarriedLedger {
  const { epoch, nextSeq, leases, tickets, ...state } = ledger.state;
  const names = new Names();
  const indexOfTo = (holder: string, to: string): number => (to === holder ? ITSELF : names.indexOf(to));
  const restOf = (demand: Demand, workspace: string, expectedMs: number | undefined): CarriedRest => [
    demand.memoryMb ?? null,
    demand.cpuMillicores ?? null,
    names.indexOf(workspace),
    demand.sessionPool === undefined ? null : names.indexOf(shortened(demand.sessionPool, workspace)),
    expectedMs ?? null,
  ];
  const carried: CarriedLedger = {
    ...{ epoch, nextSeq, names: names.list, leases: [], interactive: [], batch: [] },
    ...restOfState(state),
  };
  for (const { holder, to, seq, grantedAt, demand, workspace, expectedMs } of leases) {
    carried.leases.push([holder, indexOfTo(holder, to), seq, grantedAt, restOf(demand, workspace, expectedMs)]);
  }
  let place = 0;
  for (const { holder, to, askedAt, promotedAt, demand, workspace, expectedMs, class: workClass } of tickets) {
    const rest = restOf(demand, workspace, expectedMs);
    carried[workClass].push([holder, indexOfTo(holder, to), askedAt, promotedAt ?? null, rest, place]);
    place += 1;
  }
  return carried;
}

/** Without what says nothing: most ledgers keep no room and park nobody. */
function restOfState({
  sinceAged,
  reservation,
  quotaCaps,
  sessions,
  circuit,
  decisions,
  ...state
}: Remembered): Partial<CarriedLedger> {
  const [passes, lastGrants] = [[...(state.passes ?? [])], [...(state.lastGrants ?? [])]];
  return {
    ...(sinceAged !== undefined && { sinceAged }),
    ...(passes.length > 0 && { passes }),
    ...(reservation && { reservation }),
    ...(quotaCaps && quotaCaps.length > 0 && { quotaCaps }),
    ...(lastGrants.length > 0 && { lastGrants }),
    ...(sessions && { sessions }),
    ...(circuit && circuit.failures > 0 && { circuit }),
    ...(decisions && decisions.length > 0 && { decisions: [...decisions] }),
  };
}

export function resumeLedger(carried: CarriedLedger | EarlierCarriedLedger): Ledger {
  const current = 'names' in carried ? carried : upgraded(carried);
  const { epoch, nextSeq, names, leases, interactive, batch, ...state } = current;
  const nameOf = (index: number): string => names[index] ?? '';
  const toOf = (holder: string, to: number): string => (to === ITSELF ? holder : nameOf(to));
  const resumeRest = ([memoryMb, cpuMillicores, workspace, sessionPool = null, expectedMs = null]: CarriedRest) => ({
    workspace: workspace === undefined ? '' : nameOf(workspace),
    demand: {
      ...(memoryMb !== null && { memoryMb }),
      ...(cpuMillicores !== null && { cpuMillicores }),
      ...(sessionPool !== null && { sessionPool: lengthened(nameOf(sessionPool), nameOf(workspace ?? -1)) }),
    },
    ...(expectedMs !== null && { expectedMs }),
  });
  const resumeTickets = (tickets: CarriedTicket[], workClass: WorkClass): { place: number; ticket: Ticket }[] =>
    tickets.map(([holder, to, askedAt, promotedAt, rest, place = 0]) => ({
      place,
      ticket: {
        ...{ holder, to: toOf(holder, to), askedAt, class: workClass, ...resumeRest(rest) },
        ...(promotedAt !== null && { promotedAt }),
      },
    }));
  const tickets = [...resumeTickets(interactive, 'interactive'), ...resumeTickets(batch, 'batch')];
  return new Ledger({
    epoch,
    nextSeq,
    leases: leases.map(
      ([holder, to, seq, grantedAt, rest]): Lease => ({
        holder,
        to: toOf(holder, to),
        seq,
        grantedAt,
        ...resumeRest(rest),
      }),
    ),
    tickets: tickets.sort((one, other) => one.place - other.place).map(({ ticket }) => ticket),
    ...state,
  });
}

function upgraded({ tos, leases, interactive, batch, ...rest }: EarlierCarriedLedger): CarriedLedger {
  const upgrade = (tickets: EarlierTicket[]): CarriedTicket[] =>
    tickets.map(([holder, to, askedAt, memoryMb, cpuMillicores]) => [
      ...([holder, to, askedAt, null] as const),
      [memoryMb, cpuMillicores],
    ]);
  return {
    ...rest,
    names: tos,
    leases: leases.map(([holder, to, seq, grantedAt, ...demand]) => [holder, to, seq, grantedAt, demand]),
    interactive: upgrade(interactive),
    batch: upgrade(batch),
  };
}

/** A session pool `<workspace>/<harness>` of the ticket's own workspace, without that. */
const shortened = (sessionPool: string, workspace: string): string =>
  sessionPool.startsWith(`${workspace}/`) ? sessionPool.slice(workspace.length) : sessionPool;
const lengthened = (name: string, workspace: string): string => (name.startsWith('/') ? `${workspace}${name}` : name);

/** Distinct names, in the order in which they are first used. */
class Names {
  readonly list: string[] = [];
  private readonly indexes = new Map<string, number>();

  indexOf(name: string): number {
    const known = this.indexes.get(name);
    if (known !== undefined) return known;
    this.indexes.set(name, this.list.length);
    return this.list.push(name) - 1;
  }
}
