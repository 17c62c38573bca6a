import { Injectable } from '@nestjs/common';
import { JsonLog } from '../../config/log.js';
import type { PoolView } from '../../contracts/admission-view.js';
import type { RunView } from '../../contracts/run.js';
import type { ListedRun, RunWaiting, ShownRun, WaitingView } from '../../contracts/run-waiting.js';
import type { Waiting } from '../../contracts/waiting.js';
import { groupBy } from '../../policy/grouping.js';
import { waitOf } from '../../policy/queued.js';
import { type WaitingRun, WaitingStore } from '../../store/waiting.store.js';
import { LedgersService } from '../admission/ledgers.service.js';
import { MissingService } from '../common/missing.service.js';
import { EstimatesService, NO_ESTIMATE } from '../simulation/estimates.service.js';

/** A list waits no longer for a ledger. */
const LIST_MS = 1_000;

/** Says why runs wait: the ledgers know it of tickets, the database of the rest. */
@Injectable()
export class WaitingService {
  constructor(
    private readonly store: WaitingStore,
    private readonly ledgers: LedgersService,
    private readonly estimates: EstimatesService,
    private readonly log: JsonLog,
    private readonly missing: MissingService,
  ) {}

  async of(workspace: string, runId: string): Promise<RunWaiting> {
    const [run] = await this.store.facts([runId]);
    if (run?.workspace !== workspace) throw await this.missing.run(workspace, runId);
    const { state } = run;
    const waiting = isWaiting(run) ? (await this.inPool(run.poolId, [run])).get(runId) : placement(run);
    const until = waiting?.reason === 'paused' ? run.pause.until : null;
    return { run: runId, state, ...(waiting ?? NOTHING), until: until?.toISOString() ?? null };
  }

  /** Adds to a run that holds its slot why its cluster does not start it. */
  async withPlacement(run: RunView): Promise<ShownRun> {
    const [facts] = run.state === 'running' ? await this.store.facts([run.id]) : [];
    return { ...run, placement: facts?.isUnplaced ? (facts.placement ?? 'its cluster has not placed it yet') : null };
  }

  /** Adds to each run of a list why it waits, unless its ledger does not answer. */
  async withWaiting(runs: readonly RunView[]): Promise<ListedRun[]> {
    const waiting = await this.known(runs.filter(({ state }) => state !== 'settled'));
    return runs.map((run) => ({ ...run, waiting: waiting.get(run.id) ?? null }));
  }

  private async known(runs: readonly RunView[]): Promise<Map<string, WaitingView>> {
    if (runs.length === 0) return new Map();
    const facts = await this.store.facts(runs.map(({ id }) => id));
    const pools = [...groupBy(facts.filter(isWaiting), ({ poolId }) => poolId)];
    const found = await Promise.all(
      pools.map(([poolId, ofPool]) =>
        this.inPool(poolId, ofPool, LIST_MS).catch((error: unknown) => {
          this.log.warn('a list does not say why its runs wait', { poolId, error });
          return new Map<string, WaitingView>();
        }),
      ),
    );
    const unplaced = facts.flatMap((run): [string, WaitingView][] => {
      const waiting = isWaiting(run) ? undefined : placement(run);
      return waiting ? [[run.id, waiting]] : [];
    });
    return new Map([...unplaced, ...found.flatMap((each) => [...each])]);
  }

  private async inPool(
    poolId: string,
    runs: readonly WaitingRun[],
    withinMs?: number,
  ): Promise<Map<string, WaitingView>> {
    const asked = runs.filter(({ state, isBackingOff }) => state === 'waiting' && !isBackingOff).map(({ id }) => id);
    const ofTickets = asked.length > 0 ? await this.ledgers.waitingOf(poolId, asked, withinMs) : {};
    const estimates = asked.length > 0 ? await this.estimates.estimate(poolId, asked, withinMs) : new Map();
    const isTicketless = ({ id, isBackingOff }: WaitingRun): boolean => !isBackingOff && !(id in ofTickets);
    const view = runs.some(isTicketless) ? await this.ledgers.view(poolId, withinMs) : undefined;
    return new Map(
      runs.flatMap((run) => {
        const waiting = ofTickets[run.id] ?? ticketless(run, view);
        if (!waiting) return [];
        const note = waiting.reason === 'paused' ? run.pause.note : null;
        return [[run.id, { ...waiting, ...(estimates.get(run.id) ?? NO_ESTIMATE), note }] as const];
      }),
    );
  }
}

const NOTHING = { reason: null, scope: null, limit: null, used: null, ahead: null, note: null, ...NO_ESTIMATE };

const isWaiting = ({ state, isCarried }: WaitingRun): boolean =>
  !isCarried && (state === 'queued' || state === 'waiting');

const ofRuntime = ({ runtimeId }: WaitingRun) => ({ scope: `runtime ${runtimeId}`, limit: null, used: null, ahead: 0 });

function ticketless(run: WaitingRun, view: PoolView | undefined): Waiting | undefined {
  if (run.isBackingOff) return { reason: 'back-off', ...ofRuntime(run) };
  return view && waitOf(run, view);
}

/** It holds its slot, and its cluster has not started it. */
function placement(run: WaitingRun): WaitingView | undefined {
  if (!run.isUnplaced) return undefined;
  return { reason: 'placement', ...ofRuntime(run), ...NO_ESTIMATE, note: run.placement };
}
