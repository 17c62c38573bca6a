import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { AUTO_RUNTIME } from '../../contracts/scorecard.js';
import type { LimitChange, ScorecardPlan, Simulation, SimulationRequest } from '../../contracts/simulation.js';
import type { Backlog, Load } from '../../policy/admission/load.js';
import type { Simulated } from '../../policy/admission/simulate.js';
import { declaredResources, demandOf } from '../../policy/demand.js';
import { HarnessStore } from '../../store/harness.store.js';
import { groupName, PoolLoadStore } from '../../store/pool-load.store.js';
import { durationKey } from '../../store/pool-rows.js';
import { DialService } from '../admission/dial.service.js';
import type { Identity, Principal } from '../common/caller.js';
import { ReferencesService } from '../common/references.service.js';
import { RegistryService } from '../common/registry.service.js';
import { ScorecardGate } from '../scorecards/scorecard-gate.js';
import { assumptionsOf } from './assumptions.js';
import { fateView, futureView } from './future-view.js';
import { LoadsService, type StandingLoad, samplesOf } from './loads.service.js';
import { Simulations } from './simulations.js';

/** Cases of a planned scorecard whose demands are looked at: the others are taken to be like them. */
const LOOKED_AT = 500;
const PLANNED = 'sc_planned';

/** Who asks, and whose work is shown to them by name. */
interface Viewer {
  workspace: string;
  isOperator: boolean;
}

/** What a change of limits, or one more scorecard, would come to: by the code that decides, over durations seen before. */
@Injectable()
export class SimulationService {
  constructor(
    private readonly loads: LoadsService,
    private readonly simulations: Simulations,
    private readonly dials: DialService,
    private readonly references: ReferencesService,
    private readonly registry: RegistryService,
    private readonly harnesses: HarnessStore,
    private readonly gate: ScorecardGate,
    private readonly store: PoolLoadStore,
  ) {}

  async simulate(
    { workspace }: Principal,
    { isOperator }: Identity,
    { runtime, change, scorecard, seed }: SimulationRequest,
  ): Promise<Simulation> {
    const viewer = { workspace, isOperator };
    if (scorecard) return this.withScorecard(viewer, scorecard, seed);
    return this.withChange(viewer, runtime ?? '', change ?? {}, seed);
  }

  private async withChange(viewer: Viewer, runtime: string, change: LimitChange, seed: number): Promise<Simulation> {
    const { poolId } = await this.dials.find(viewer.workspace, runtime);
    const standing = await this.loads.read(poolId);
    const { load } = standing;
    const limits = { ...load.limits, envelope: { ...load.limits.envelope, ...change } };
    return this.compare(viewer, { runtime, seed, standing, changed: { ...load, limits } });
  }

  private async withScorecard(viewer: Viewer, plan: ScorecardPlan, seed: number): Promise<Simulation> {
    const { poolId, backlog, key, runtime } = await under('scorecard', () => this.planned(viewer.workspace, plan));
    const { load, durations } = await this.loads.read(poolId);
    const all = new Map([...durations, ...(await this.loads.durationsOf(new Map([[backlog.group, key]])))]);
    const samples = samplesOf(all);
    return this.compare(viewer, {
      ...{ runtime, seed },
      standing: { load: { ...load, samples }, durations: all },
      changed: { ...load, samples, backlogs: [...load.backlogs, backlog] },
    });
  }

  /** What a scorecard would add. It is refused for what names nothing, and for nothing that can still be put right. */
  private async planned(workspace: string, plan: ScorecardPlan) {
    if (plan.runtime === AUTO_RUNTIME) throw needsRuntime();
    const dataset = await this.references.dataset(workspace, plan.dataset);
    const harness = await this.harnesses.find(workspace, plan.harness);
    if (!harness) throw await this.registry.missing('harnesses', workspace, plan.harness);
    const { poolId, id, version } = await this.references.registered(workspace, plan.runtime);
    const targets = await this.gate.select(dataset, plan);
    const count = plan.trials * targets.reduce((sum, { cases }) => sum + cases, 0);
    const fallback = demandOf(declaredResources({}, harness.spec));
    const demands = await this.store.demands(dataset.pk, plan.cases, fallback, LOOKED_AT);
    const of = { harness_pk: harness.pk, dataset_pk: dataset.pk };
    const backlog: Backlog = {
      ...{ scorecard: PLANNED, workspace, class: plan.class, count, demands, group: groupName(of) },
      ...(plan.concurrency !== undefined && { concurrency: plan.concurrency }),
    };
    return { poolId, runtime: `${id}@${version}`, backlog, key: durationKey(poolId, of) };
  }

  private async compare(
    viewer: Viewer,
    { runtime, seed, standing, changed }: { runtime: string; seed: number; standing: StandingLoad; changed: Load },
  ): Promise<Simulation> {
    const before = await this.simulations.run(standing.load, { seed });
    const after = await this.simulations.run(changed, { seed });
    const isShown = (workspace: string): boolean => viewer.isOperator || workspace === viewer.workspace;
    const view = (simulated: Simulated) => futureView(simulated, (name) => (isShown(name) ? name : 'others'));
    const { slots, memoryMb, cpuMillicores } = changed.limits.envelope;
    const names = await this.store.names([...standing.durations.values()].map(({ key }) => key));
    return {
      ...{ runtime, seed },
      limits: { slots, memoryMb: memoryMb ?? null, cpuMillicores: cpuMillicores ?? null },
      before: view(before),
      after: view(after),
      scorecard: fateView(after, viewer.workspace, PLANNED),
      assumptions: assumptionsOf({ load: changed, durations: standing.durations, names, simulated: after, isShown }),
    };
  }
}

/** Refusals of a part of the body name it by its place in the whole. */
async function under<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlatformError) || !error.details.errors) throw error;
    const errors = error.details.errors.map(({ path, message }) => ({ path: `${field}.${path}`, message }));
    throw new PlatformError(error.code, error.message, { ...error.details, errors }, { cause: error });
  }
}

function needsRuntime(): PlatformError {
  const message = 'name a runtime: `auto` chooses by what is free once it is submitted';
  return new PlatformError('BAD_REQUEST', message, { errors: [{ path: 'runtime', message }] });
}
