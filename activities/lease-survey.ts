import type { Logger } from '@temporalio/worker';
import type { Lease } from '../contracts/admission.js';
import { SETTLED_IN_MS } from '../policy/audit.js';
import type { PoolStore } from '../store/pool.store.js';
import type { Holders, Holding } from './holders.js';

/** Attempts that one survey looks at. What it leaves out is met once these have a lease. */
const MOST_READ = 500;

/** Lease numbers from above `after` to `upTo`. */
export interface LeaseSpan {
  poolId: string;
  after: number;
  upTo: number;
}

export interface SurveyedLease extends Holding {
  /** Epoch ms; absent in requests of earlier workers. */
  grantedAt?: number;
}

export interface Survey {
  leases: SurveyedLease[];
  /** These are all the leases of a span; absent: only some. */
  span?: LeaseSpan;
}

export interface Surveyed {
  /** Leases nobody will ever give back. */
  dead: Holding[];
  /** What live attempts of the span hold without a lease. */
  unleased?: Lease[];
}

interface Deps {
  holders: Pick<Holders, 'dead'>;
  pools: Pick<PoolStore, 'liveLeases'>;
  log: Pick<Logger, 'error'>;
}

/** Compares leases with who holds them and with the attempts. What should not be is healed by who asked, and told. */
export class LeaseSurvey {
  constructor(private readonly deps: Deps) {}

  async of({ leases, span }: Survey): Promise<Surveyed> {
    const { holders, pools } = this.deps;
    if (!span) return { dead: await holders.dead(leases) };
    // The leases were read before: an attempt that is live now, and not new, has its lease among them.
    const [dead, live] = [
      await holders.dead(leases),
      await pools.liveLeases(span.poolId, { ...span, most: MOST_READ }),
    ];
    const leased = new Set(leases.map(({ seq }) => seq));
    const running = new Set(live.map(({ seq }) => seq));
    const unleased = live.filter(({ seq, grantedAt }) => !leased.has(seq) && isSettled(grantedAt));
    this.tell(
      'a lease without an attempt, and its holder is gone',
      span,
      dead.filter(({ seq, grantedAt }) => !running.has(seq) && grantedAt !== undefined && isSettled(grantedAt)),
    );
    this.tell('an attempt without a lease', span, unleased);
    return { dead, unleased };
  }

  private tell(what: string, { poolId }: LeaseSpan, found: readonly Holding[]): void {
    for (const { holder, seq } of found) {
      this.deps.log.error('admission drifted, and is mended', { what, poolId, holder, seq });
    }
  }
}

const isSettled = (since: number): boolean => since <= Date.now() - SETTLED_IN_MS;
