import type { Lease, SessionAnswer, SessionRead, Ticket } from '../../contracts/admission.js';

/** How long a session may take to be seen as taken once its lease is granted. */
const UNSEEN_MS = 10_000;
/** A reading that nobody repeats holds so long; while someone waits, it is repeated sooner. */
const STALE_MS = 60_000;
/** Between two readings of an endpoint that gave none. */
const RETRY_MS = 3_000;
/** Pools that are asked at once; the others are next. */
const MOST_WATCHED = 50;
/** Pools that are waited in at once: what they are called must be carried, too. */
const MOST_WAITED = 500;
const MOST_OF_ONE = 50;

/** The workspace whose a pool `<workspace>/<harness id>` is. */
const ownerOf = (pool: string): string => pool.slice(0, pool.indexOf('/'));

/** What a session pool said last. */
export interface KnownSessions {
  answer: SessionAnswer;
  /** Epoch ms. */
  at: number;
  /** It said nothing, and somebody new needs it. */
  isWanted?: true;
}

type Reading = Exclude<SessionAnswer, { failure: string }>;

/** A session pool to ask. */
export interface WatchedPool {
  pool: string;
  /** Its last reading, if nothing else is worth telling. */
  known?: SessionAnswer;
}

/** A session pool as people see it. */
export interface SessionPoolState {
  pool: string;
  waiting: number;
  ours: number;
  /** Absent: not asked yet, or too long ago. */
  said?: Readonly<KnownSessions>;
}

/**
 * The live session pools that tickets of one runtime name.
 *
 *   unread → reading ⇄ reading, as long as someone waits
 *          ↘ failed → asked again once a new ticket needs it
 *
 * 1. Unread: nobody starts before the pool was asked once.
 * 2. A reading: as many start as are free, less the leases so young that the pool may not count them yet, and never
 *    more of ours than the pool has or the runtime has slots.
 * 3. A failed one says nothing: the runtime's own limit holds.
 */
export class SessionPools {
  private readonly pools = new Map<string, SessionPool>();

  constructor(known: Readonly<Record<string, KnownSessions>> = {}) {
    for (const [name, said] of Object.entries(known)) this.pool(name).say(said);
  }

  /** A ticket that was not there before: it asks for a pool that failed, and goes by no reading that nobody kept fresh. */
  arrive({ demand: { sessionPool } }: Ticket, now: number): void {
    const pool = sessionPool === undefined ? undefined : this.pools.get(sessionPool);
    if (!pool?.said) return;
    if ('failure' in pool.said.answer) pool.said.isWanted = true;
    else if (pool.waiting === 0 && pool.said.at < now - UNSEEN_MS) pool.said = undefined;
  }

  wait({ demand: { sessionPool } }: Ticket, times: 1 | -1): void {
    if (sessionPool !== undefined) this.pool(sessionPool).waiting += times;
  }

  hold(lease: Lease): void {
    const { sessionPool } = lease.demand;
    if (sessionPool !== undefined) this.pool(sessionPool).hold(lease);
  }

  giveBack({ holder, demand: { sessionPool } }: Lease): void {
    if (sessionPool !== undefined) this.pool(sessionPool).giveBack(holder);
  }

  /** What an endpoint said, or that nobody knows where it is. */
  note({ pool: name, at, answer }: SessionRead): void {
    const pool = this.pool(name);
    pool.askedAt = Math.max(pool.askedAt, at);
    if (answer && (!pool.said || pool.said.at <= at)) pool.say({ answer, at });
  }

  /** Whether a ticket may wait: so many pools are waited in at most, in all and of one workspace. */
  mayWait({ demand: { sessionPool } }: Ticket): boolean {
    if (sessionPool === undefined || (this.pools.get(sessionPool)?.waiting ?? 0) > 0) return true;
    const owners = this.waitedIn().map(([name]) => ownerOf(name));
    const own = owners.filter((owner) => owner === ownerOf(sessionPool)).length;
    return own < MOST_OF_ONE && owners.length < MOST_WAITED;
  }

  /** Whether a ticket of it may start, as it was when it was looked at last. */
  isOpen(name: string): boolean {
    return this.pool(name).isOpen;
  }

  /** Looks at those that someone waits in, given the slots of the runtime, and tells the order which opened or closed. */
  look(slots: number, now: number, order: { look(sessionPool: string): void }): void {
    for (const [name, pool] of this.pools) if (pool.waiting > 0 && pool.look(slots, now)) order.look(name);
  }

  /** What a pool itself has no more of, as its tickets see it; undefined: it is not what they wait for. */
  full(name: string, now: number): { total: number | null; used: number | null } | undefined {
    return this.pool(name).full(now);
  }

  /** Which pools are to be asked, of those that someone waits in: workspaces in turn, of each the longest unasked. */
  due(now: number): WatchedPool[] {
    const due = this.waitedIn().filter(([, pool]) => pool.isDue(now));
    due.sort(([, one], [, other]) => one.askedAt - other.askedAt);
    const turns = new Map<string, number>();
    const inTurn = due.map(([name, pool]) => {
      const turn = turns.get(ownerOf(name)) ?? 0;
      turns.set(ownerOf(name), turn + 1);
      return { name, answer: pool.saidAt(now)?.answer, turn };
    });
    return inTurn
      .sort((one, other) => one.turn - other.turn)
      .slice(0, MOST_WATCHED)
      .map(({ name: pool, answer }) => ({ pool, ...(answer && !('failure' in answer) && { known: answer }) }));
  }

  /** Those that someone waits in or holds a session of. */
  states(now: number): SessionPoolState[] {
    return [...this.pools].flatMap(([name, pool]) => {
      const { waiting, held: ours } = pool;
      const said = pool.saidAt(now);
      return waiting + ours > 0 ? [{ pool: name, waiting, ours, ...(said && { said }) }] : [];
    });
  }

  /** What is worth carrying over: what pools said last that someone waits in. The others are asked anew. */
  carry(): Record<string, KnownSessions> | undefined {
    const known = this.waitedIn().flatMap(([name, { said }]) => (said ? [{ name, said }] : []));
    known.sort((one, other) => other.said.at - one.said.at);
    const kept = known.slice(0, MOST_WATCHED).map(({ name, said }) => [name, said] as const);
    return kept.length > 0 ? Object.fromEntries(kept) : undefined;
  }

  private waitedIn(): [string, SessionPool][] {
    return [...this.pools].filter(([, { waiting }]) => waiting > 0);
  }

  private pool(name: string): SessionPool {
    const pool = this.pools.get(name) ?? new SessionPool();
    this.pools.set(name, pool);
    return pool;
  }
}

class SessionPool {
  waiting = 0;
  isOpen = false;
  /** Epoch ms; 0: never. */
  askedAt = 0;
  said: KnownSessions | undefined;
  private readonly ours = new Map<string, Lease>();
  /** Of ours, those that the last reading may not count. */
  private readonly unseen = new Set<string>();

  get held(): number {
    return this.ours.size;
  }

  hold(lease: Lease): void {
    this.ours.set(lease.holder, lease);
    this.see(lease);
  }

  giveBack(holder: string): void {
    this.ours.delete(holder);
    this.unseen.delete(holder);
  }

  say(said: KnownSessions): void {
    this.said = said;
    this.askedAt = Math.max(this.askedAt, said.at);
    this.unseen.clear();
    for (const lease of this.ours.values()) this.see(lease);
  }

  saidAt(now: number): KnownSessions | undefined {
    const { said } = this;
    return said && ('failure' in said.answer || said.at >= now - STALE_MS) ? said : undefined;
  }

  /** Whether it opened or closed since it was looked at last. */
  look(slots: number, now: number): boolean {
    const was = this.isOpen;
    this.isOpen = this.room(slots, now) >= 1;
    return this.isOpen !== was;
  }

  full(now: number): { total: number | null; used: number | null } | undefined {
    const answer = this.saidAt(now)?.answer;
    if (!answer) return { total: null, used: null };
    if ('failure' in answer || this.free(answer) >= 1) return undefined;
    return { total: answer.total, used: answer.total - this.free(answer) };
  }

  /** Tickets that may start now. */
  private room(slots: number, now: number): number {
    const answer = this.saidAt(now)?.answer;
    if (!answer) return 0;
    const spare = slots - this.held;
    return 'failure' in answer ? spare : Math.min(spare, this.free(answer));
  }

  private free({ total, used }: Reading): number {
    const { held } = this;
    return Math.min(total - held, used === undefined ? total - held : total - used - this.unseen.size);
  }

  isDue(now: number): boolean {
    const { said } = this;
    if (!said || !('failure' in said.answer)) return true;
    return said.isWanted === true && said.at <= now - RETRY_MS;
  }

  private see({ holder, grantedAt }: Lease): void {
    if (this.said && grantedAt > this.said.at - UNSEEN_MS) this.unseen.add(holder);
  }
}
