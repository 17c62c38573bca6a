import { type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import type { Release, Ticket } from '../contracts/admission.js';
import { type CarriedLedger, carryLedger } from '../policy/admission/carry.js';
import type { Delivery, Refusal } from '../policy/admission/decision.js';
import { Ledger } from '../policy/admission/ledger.js';
import { groupBy } from '../policy/grouping.js';
import { errored } from '../policy/results.js';
import type { AskedRun } from '../store/asked-run.js';
import type { DurationStore } from '../store/duration.store.js';
import type { PoolLimits, PoolStore } from '../store/pool.store.js';
import type { RunStore } from '../store/run.store.js';
import { caseWorkflowId, runIdOfHolder, runsSettled, slotsGranted } from '../workflows/messages.js';
import type { AdmissionSender } from './admission-sender.js';
import { withExpected } from './expected.js';
import type { Holding } from './holders.js';
import type { LeaseSpan, LeaseSurvey, Survey, Surveyed } from './lease-survey.js';

interface Deps {
  client: WorkflowClient;
  sender: Pick<AdmissionSender, 'send'>;
  pools: Pick<PoolStore, 'isSubmitted' | 'limits' | 'rebuild'>;
  runs: Pick<RunStore, 'markAsked' | 'settleUnplaced'>;
  leases: Pick<LeaseSurvey, 'of'>;
  durations: Pick<DurationStore, 'of'>;
}

export type { PoolLimits };

export interface AdmissionRequest {
  poolId: string;
  acquire: RequestedTicket[];
  release: Release[];
}

/** A ticket as its workflow asks; the rest is read from the run. */
export type RequestedTicket = Omit<Ticket, 'workspace'>;

export type { Holding, LeaseSpan, Surveyed };

export type AdmissionActivities = ReturnType<typeof createAdmissionActivities>;

export function createAdmissionActivities({ client, sender, pools, runs, leases, durations }: Deps) {
  return {
    /** Records who waits since when, then tells the pool's ledger. `settled`: holders whose run wants no slot any more. */
    async requestAdmission(request: AdmissionRequest): Promise<{ settled: string[] }> {
      const { poolId, acquire, release } = request;
      const wanted = new Map<string, AskedRun>();
      for (const [to, tickets] of groupBy(acquire, (ticket) => ticket.to)) {
        const asked = tickets.map(({ holder, askedAt }) => ({ runId: runIdOfHolder(holder), askedAt }));
        const open = await runs.markAsked(asked, to);
        for (const run of open) wanted.set(caseWorkflowId(run.runId), run);
      }
      const tickets = acquire.flatMap((ticket) => ticketOf(ticket, wanted.get(ticket.holder)) ?? []);
      const expecting = await withExpected(durations, tickets, (holder) => wanted.get(holder)?.duration);
      await sender.send(poolId, { acquire: expecting, release });
      return { settled: acquire.map(({ holder }) => holder).filter((holder) => !wanted.has(holder)) };
    },

    /** Opens a new epoch, which voids every grant not yet used, and reads what holds and what waits. */
    async rebuildLedger({ poolId }: { poolId: string }): Promise<CarriedLedger> {
      const { epoch, live, waiting, keys } = await pools.rebuild(poolId);
      const keyOf = (holder: string) => keys.get(holder);
      const [leases, tickets] = await Promise.all([
        withExpected(durations, live, keyOf),
        withExpected(durations, waiting, keyOf),
      ]);
      return carryLedger(Ledger.open(epoch, leases, tickets));
    },

    /** Whether the job of the attempt under a lease was confirmed by its cluster. */
    isSubmitted: ({ poolId, seq }: { poolId: string; seq: number }): Promise<boolean> => pools.isSubmitted(poolId, seq),

    readEnvelope: ({ poolId }: { poolId: string }): Promise<PoolLimits> => pools.limits(poolId),

    /**
     * Tells each workflow of its grants. `gone`: holders nobody could be told about. A workflow that cannot be told for
     * another reason keeps no other waiting: it asks again by itself.
     */
    async deliverGrants({ grants }: { grants: Delivery[] }): Promise<{ gone: string[] }> {
      const deliveries = [...groupBy(grants, ({ to }) => to)].map(async ([to, delivered]) => {
        const told = delivered.map(({ holder, seq, epoch }) => ({ holder, seq, epoch }));
        try {
          await client.getHandle(to).signal(slotsGranted, told);
          return { gone: [], failure: undefined };
        } catch (error) {
          const isGone = error instanceof WorkflowNotFoundError;
          return { gone: isGone ? told.map(({ holder }) => holder) : [], failure: isGone ? undefined : error };
        }
      });
      const results = await Promise.all(deliveries);
      const [first] = results;
      if (first && results.every(({ failure }) => failure !== undefined)) throw first.failure;
      return { gone: results.flatMap(({ gone }) => gone) };
    },

    /** Ends runs that ask for more than their runtime has, and tells who waits for them. */
    async refuseTickets({ refused }: { refused: Refusal[] }): Promise<void> {
      for (const { holder, axis, asked, limit } of refused) {
        const unit = axis === 'memoryMb' ? 'MB' : 'millicores';
        const reason = `declares ${asked} ${unit}, and the runtime was lowered to ${limit} in all while it waited`;
        await runs.settleUnplaced(runIdOfHolder(holder), errored('DEMAND_EXCEEDS_ENVELOPE', reason));
      }
      const told = [...groupBy(refused, ({ to }) => to)].map(async ([to, ofOne]) => {
        try {
          await client.getHandle(to).signal(
            runsSettled,
            ofOne.map(({ holder }) => holder),
          );
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      });
      await Promise.all(told);
    },

    /** Which of these leases nobody will ever give back, and which attempts hold a slot without a lease. */
    findDeadHolders: (survey: Survey): Promise<Surveyed> => leases.of(survey),
  };
}

/** Undefined: its run wants no slot any more. */
function ticketOf(ticket: RequestedTicket, run: AskedRun | undefined): Ticket | undefined {
  if (!run) return undefined;
  const { workspace, sessionPool, promotedAt } = run;
  return {
    ...ticket,
    workspace,
    demand: { ...ticket.demand, ...(sessionPool !== undefined && { sessionPool }) },
    ...(promotedAt !== undefined && { promotedAt }),
  };
}
