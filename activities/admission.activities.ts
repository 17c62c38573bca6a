import { type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import type { Release, Ticket } from '../contracts/admission.js';
import { type Delivery, openLedger } from '../policy/admission.js';
import { groupBy } from '../policy/grouping.js';
import { type CarriedLedger, carryLedger } from '../policy/ledger-carry.js';
import type { PoolLimits, PoolStore } from '../store/pool.store.js';
import type { RunStore } from '../store/run.store.js';
import { caseWorkflowId, runIdOfHolder, slotsGranted } from '../workflows/messages.js';
import type { AdmissionSender } from './admission-sender.js';
import type { Holders, Holding } from './holders.js';

interface Deps {
  client: WorkflowClient;
  sender: Pick<AdmissionSender, 'send'>;
  pools: Pick<PoolStore, 'envelope' | 'rebuild'>;
  runs: Pick<RunStore, 'markAsked'>;
  holders: Pick<Holders, 'dead'>;
}

export type { PoolLimits };

export interface AdmissionRequest {
  poolId: string;
  acquire: Ticket[];
  release: Release[];
}

export type { Holding };

export type AdmissionActivities = ReturnType<typeof createAdmissionActivities>;

export function createAdmissionActivities({ client, sender, pools, runs, holders }: Deps) {
  return {
    /** Records who waits since when, then tells the pool's ledger. `settled`: holders whose run wants no slot any more. */
    async requestAdmission(request: AdmissionRequest): Promise<{ settled: string[] }> {
      const { poolId, acquire, release } = request;
      const wanted = new Set<string>();
      for (const [to, tickets] of groupBy(acquire, (ticket) => ticket.to)) {
        const asked = tickets.map(({ holder, askedAt }) => ({ runId: runIdOfHolder(holder), askedAt }));
        const open = await runs.markAsked(asked, to);
        for (const runId of open) wanted.add(caseWorkflowId(runId));
      }
      await sender.send(poolId, { acquire: acquire.filter(({ holder }) => wanted.has(holder)), release });
      return { settled: acquire.map(({ holder }) => holder).filter((holder) => !wanted.has(holder)) };
    },

    /** Opens a new epoch, which voids every grant not yet used, and reads what holds and what waits. */
    async rebuildLedger({ poolId }: { poolId: string }): Promise<CarriedLedger> {
      const { epoch, live, waiting } = await pools.rebuild(poolId);
      return carryLedger(openLedger(epoch, live, waiting));
    },

    readEnvelope: ({ poolId }: { poolId: string }): Promise<PoolLimits> => pools.envelope(poolId),

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

    /** Which of these leases nobody will ever give back. */
    findDeadHolders: async ({ leases }: { leases: Holding[] }): Promise<{ dead: Holding[] }> => ({
      dead: await holders.dead(leases),
    }),
  };
}
