import { Injectable } from '@nestjs/common';
import type { LeaseView, PoolView } from '../../contracts/admission-view.js';
import { SHARED_WORKSPACE } from '../../contracts/ids.js';
import type { HolderView, RuntimeAdmission } from '../../contracts/runtime-admission.js';
import { HolderStore, type LedgerRun } from '../../store/holder.store.js';
import type { Identity, Principal } from '../common/caller.js';
import { DialService, runtimeDial } from './dial.service.js';
import { LedgersService } from './ledgers.service.js';

/** A runtime as its ledger sees it, with what the database knows of the runs. */
@Injectable()
export class RuntimeAdmissionService {
  constructor(
    private readonly dials: DialService,
    private readonly ledgers: LedgersService,
    private readonly holders: HolderStore,
  ) {}

  async read({ workspace }: Principal, { isOperator }: Identity, runtimeId: string): Promise<RuntimeAdmission> {
    const dialled = await this.dials.find(workspace, runtimeId);
    const view = await this.ledgers.view(dialled.poolId);
    const runs = await this.holders.runs(namedIn(view));
    const isForeign = dialled.owner === SHARED_WORKSPACE && !isOperator;
    const shown = isForeign ? await this.ownPart(workspace, view, runs) : view;
    const now = Date.now();
    const { envelope: _, limits: _limits, dial: _dial, leases, moreLeases: _more, ...rest } = shown;
    return {
      ...rest,
      dial: runtimeDial(dialled, now),
      holders: leases.map((lease) => holderView(lease, runs.get(lease.run), now)),
      moreHolders: view.inUse.slots - leases.length,
    };
  }

  /** What of a shared runtime concerns one workspace. */
  private async ownPart(workspace: string, view: PoolView, runs: ReadonlyMap<string, LedgerRun>): Promise<PoolView> {
    const isOwn = ({ run }: { run: string }): boolean => runs.get(run)?.workspace === workspace;
    const { leases, reservation, decisions, parkedWorkspaces, pausedScorecards, sessionPools } = view;
    const { envelope, limits, dial, inUse, moreLeases, waiting, circuit } = view;
    return {
      ...{ envelope, limits, dial, inUse, moreLeases, waiting, circuit },
      leases: leases.filter(isOwn),
      reservation: reservation && isOwn(reservation) ? reservation : null,
      decisions: decisions.filter(isOwn),
      // Of a shared harness they are everybody's.
      sessionPools: sessionPools.filter(({ name }) => [workspace, SHARED_WORKSPACE].includes(name.split('/')[0] ?? '')),
      parkedWorkspaces: parkedWorkspaces.filter((id) => id === workspace),
      pausedScorecards: await this.holders.ownScorecards(workspace, pausedScorecards),
    };
  }
}

const namedIn = ({ leases, decisions, reservation }: PoolView): string[] => [
  ...new Set([...leases, ...decisions, ...(reservation ? [reservation] : [])].map(({ run }) => run)),
];

function holderView(lease: LeaseView, known: LedgerRun | undefined, now: number): HolderView {
  const { runningMs = null, timeoutSec = null } = known ?? {};
  return {
    ...lease,
    caseId: known?.caseId ?? null,
    scorecard: known?.scorecard ?? null,
    ageMs: Math.max(0, now - Date.parse(lease.grantedAt)),
    phase: known?.phase ?? null,
    attempt: known?.attempt ?? null,
    timeoutSec,
    leftMs: runningMs === null || timeoutSec === null ? null : Math.max(0, timeoutSec * 1_000 - runningMs),
  };
}
