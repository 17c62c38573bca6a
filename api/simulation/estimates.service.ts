import { Injectable } from '@nestjs/common';
import { JsonLog } from '../../config/log.js';
import { type Spread, startOf } from '../../policy/admission/simulate.js';
import { LoadsService } from './loads.service.js';
import { Simulations } from './simulations.js';

/** When a waiting run starts: seconds from now; null: nobody can say. */
export interface Estimate {
  p50Sec: number | null;
  p90Sec: number | null;
}

interface Kept {
  madeAt: number;
  /** Until then it is not made anew. */
  freshUntil: number;
  starts: Promise<ReadonlyMap<string, Spread>>;
}

const SEED = 1;
const FRESH_MS = 5_000;
/** Estimates of a pool take this part of the time at most: what takes a second is made each 20 seconds. */
const SHARE = 20;
/** Pools that are kept. */
const MOST_KEPT = 200;

/** When waiting runs start, by simulating their pool as it stands. */
@Injectable()
export class EstimatesService {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly loads: LoadsService,
    private readonly simulations: Simulations,
    private readonly log: JsonLog,
  ) {}

  /** By holder. Missing: not known, as where nothing is known of durations, or the holder does not wait. Never fails. */
  async estimate(poolId: string, holders: readonly string[]): Promise<Map<string, Estimate>> {
    const { madeAt, starts } = this.standing(poolId);
    const found = await starts;
    const elapsedMs = Date.now() - madeAt;
    const secondsOf = (ms: number | null): number | null => ms && Math.round(Math.max(0, ms - elapsedMs) / 100) / 10;
    return new Map(
      holders.flatMap((holder) => {
        const start = found.get(holder);
        if (!start || (start.p50 === null && start.p90 === null)) return [];
        return [[holder, { p50Sec: secondsOf(start.p50), p90Sec: secondsOf(start.p90) }] as const];
      }),
    );
  }

  private standing(poolId: string): Kept {
    const known = this.kept.get(poolId);
    if (known && Date.now() < known.freshUntil) return known;
    const madeAt = Date.now();
    const kept: Kept = { madeAt, freshUntil: Number.POSITIVE_INFINITY, starts: this.simulate(poolId) };
    this.kept.delete(poolId);
    this.kept.set(poolId, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
    void kept.starts.finally(() => {
      kept.freshUntil = Date.now() + Math.max(FRESH_MS, SHARE * (Date.now() - madeAt));
    });
    return kept;
  }

  private async simulate(poolId: string): Promise<ReadonlyMap<string, Spread>> {
    try {
      const { load } = await this.loads.read(poolId);
      if (load.tickets.length === 0) return new Map();
      const simulated = await this.simulations.run(load, { seed: SEED, isTicketsOnly: true });
      return new Map(load.tickets.map(({ holder }) => [holder, startOf(simulated, holder)]));
    } catch (error) {
      this.log.warn('waits could not be estimated', { poolId, error });
      return new Map();
    }
  }
}
