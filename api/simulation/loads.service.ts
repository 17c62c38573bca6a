import { Injectable } from '@nestjs/common';
import type { AdmissionLimits } from '../../contracts/admission.js';
import type { Load } from '../../policy/admission/load.js';
import { DurationStore, type KnownDurations } from '../../store/duration.store.js';
import { PoolStore } from '../../store/pool.store.js';
import { PoolLoadStore } from '../../store/pool-load.store.js';
import type { DurationKey } from '../../store/pool-rows.js';

/** What the cases of a group are likely to take; without `known` nobody can say. */
export interface GroupDurations {
  key: DurationKey;
  known?: KnownDurations;
}

/** A pool as it stands, ready to be simulated. */
export interface StandingLoad {
  load: Load;
  durations: ReadonlyMap<string, GroupDurations>;
}

/** Reads what is to be simulated from the database: its ledger may run or not. */
@Injectable()
export class LoadsService {
  constructor(
    private readonly pools: PoolStore,
    private readonly loads: PoolLoadStore,
    private readonly durations: DurationStore,
  ) {}

  async read(poolId: string): Promise<StandingLoad> {
    const limits = await this.pools.limits(poolId);
    const limited = Object.keys(limits.workspaces).filter((id) => limits.workspaces[id]?.maxRunning !== undefined);
    const { groups, openElsewhere, ...load } = await this.loads.read(poolId, limited);
    const durations = await this.durationsOf(groups);
    return {
      load: { ...load, now: Date.now(), limits: within(limits, openElsewhere), samples: samplesOf(durations) },
      durations,
    };
  }

  async durationsOf(groups: ReadonlyMap<string, DurationKey>): Promise<Map<string, GroupDurations>> {
    const durations = new Map<string, GroupDurations>();
    for (const [group, key] of groups) {
      const known = await this.durations.of(key);
      durations.set(group, { key, ...(known && { known }) });
    }
    return durations;
  }
}

export const samplesOf = (durations: ReadonlyMap<string, GroupDurations>): Load['samples'] =>
  Object.fromEntries([...durations].map(([group, { known }]) => [group, known?.sampleMs ?? []]));

/** A quota holds across runtimes: what runs on others is taken off. */
function within(limits: AdmissionLimits, openElsewhere: ReadonlyMap<string, number>): AdmissionLimits {
  const workspaces = { ...limits.workspaces };
  for (const [workspace, open] of openElsewhere) {
    const share = workspaces[workspace];
    if (share?.maxRunning === undefined) continue;
    workspaces[workspace] = { ...share, maxRunning: Math.max(0, share.maxRunning - open) };
  }
  return { ...limits, workspaces };
}
