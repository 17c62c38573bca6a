import { Injectable } from '@nestjs/common';
import { JsonLog } from '../../config/log.js';
import { type Spread, startOf } from '../../policy/admission/simulate.js';
import { caseWorkflowId } from '../../workflows/messages.js';
import { LoadsService } from './loads.service.js';
import { Simulations } from './simulations.js';

/** When a waiting run starts: seconds from now; null: nobody can say. */
export interface Estimate {
  etaP50: number | null;
  etaP90: number | null;
}

interface Estimated {
  madeAt: number;
  starts: ReadonlyMap<string, Spread>;
}

interface Kept {
  last: Estimated;
  /** Until then it is not made anew, not even for a run that came after it. */
  restUntil: number;
  underWay?: Promise<Estimated>;
}

export const NO_ESTIMATE: Estimate = { etaP50: null, etaP90: null };

const SEED = 1;
const FRESH_MS = 5_000;
/** Estimates of a pool take this part of the time at most: what takes a second is made each 20 seconds. */
const SHARE = 20;
/** Nobody waits longer for an estimate: the one before is told, or none. */
const WITHIN_MS = 2_000;
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

  /** By run. Missing: not known, as where nothing is known of durations, or the run does not wait. Never fails. */
  async estimate(poolId: string, runs: readonly string[], withinMs = WITHIN_MS): Promise<Map<string, Estimate>> {
    const { madeAt, starts } = await this.standing(poolId, runs.map(caseWorkflowId), withinMs);
    const elapsedMs = Date.now() - madeAt;
    const secondsOf = (ms: number | null): number | null =>
      ms === null ? null : Math.round(Math.max(0, ms - elapsedMs) / 100) / 10;
    return new Map(
      runs.flatMap((run) => {
        const start = starts.get(caseWorkflowId(run));
        if (!start || (start.p50 === null && start.p90 === null)) return [];
        return [[run, { etaP50: secondsOf(start.p50), etaP90: secondsOf(start.p90) }] as const];
      }),
    );
  }

  private async standing(poolId: string, holders: readonly string[], withinMs: number): Promise<Estimated> {
    const kept = this.keep(poolId);
    const { madeAt, starts } = kept.last;
    const isEnough = Date.now() < madeAt + FRESH_MS && holders.every((holder) => starts.has(holder));
    if (!kept.underWay && (isEnough || Date.now() < kept.restUntil)) return kept.last;
    kept.underWay ??= this.simulate(poolId).then((estimated) => {
      kept.last = estimated;
      kept.restUntil = Date.now() + SHARE * (Date.now() - estimated.madeAt);
      kept.underWay = undefined;
      return estimated;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Estimated>((resolve) => {
      timer = setTimeout(() => resolve(kept.last), withinMs);
    });
    return Promise.race([kept.underWay, late]).finally(() => clearTimeout(timer));
  }

  private keep(poolId: string): Kept {
    const kept = this.kept.get(poolId) ?? { last: { madeAt: 0, starts: new Map() }, restUntil: 0 };
    this.kept.delete(poolId);
    this.kept.set(poolId, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return kept;
  }

  private async simulate(poolId: string): Promise<Estimated> {
    const madeAt = Date.now();
    try {
      const { load } = await this.loads.read(poolId);
      if (load.tickets.length === 0) return { madeAt, starts: new Map() };
      const simulated = await this.simulations.run(load, { seed: SEED, isTicketsOnly: true });
      return { madeAt, starts: new Map(load.tickets.map(({ holder }) => [holder, startOf(simulated, holder)])) };
    } catch (error) {
      this.log.warn('waits could not be estimated', { poolId, error });
      return { madeAt, starts: new Map() };
    }
  }
}
