import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { InUse } from '../../contracts/admission-view.js';
import { driftOf, useOf } from '../../policy/audit.js';
import { InvariantStore } from '../../store/invariant.store.js';
import { runIdOfHolder } from '../../workflows/messages.js';
import { WorkflowClient } from '../common/workflow.client.js';

/** Pools that one audit looks at, those in use first. */
const MAX_POOLS = 200;
const AT_ONCE = 10;
const ANSWER_MS = 3_000;
/** After this long no further ledger is asked. */
const WITHIN_MS = 10_000;

const PoolAudit = z.strictObject({
  pool: z.string(),
  drift: z.int(),
  /** Granted and not given back. */
  leases: z.int(),
  /** What the ledger counts, and the same recomputed from live attempts: they differ for as long as a grant travels. */
  inUse: z.strictObject({ ledger: InUse, attempts: InUse }),
  leasesWithoutAttempt: z.array(z.strictObject({ runId: z.string(), seq: z.int(), grantedAt: z.int() })),
  attemptsWithoutLease: z.array(z.strictObject({ runId: z.string(), attempt: z.int(), seq: z.int() })),
});
type PoolAudit = z.infer<typeof PoolAudit>;

export const AdmissionAudit = z.strictObject({
  /**
   * Leases and live attempts, older than a minute, that lack the other: 0 while all is well. Null: of those that answered
   * it is 0, and some did not.
   */
  drift: z.int().nullable(),
  pools: z.array(PoolAudit),
  /** Pools whose ledger did not answer, with the reason. */
  unread: z.array(z.strictObject({ pool: z.string(), reason: z.string() })),
  /** How many pools were not looked at. */
  skipped: z.int(),
});
export type AdmissionAudit = z.infer<typeof AdmissionAudit>;

/** Compares what the ledgers have granted with the attempts that run. */
@Injectable()
export class AuditService {
  constructor(
    private readonly store: InvariantStore,
    private readonly workflows: WorkflowClient,
  ) {}

  async read(): Promise<AdmissionAudit> {
    const { ids, total } = await this.store.pools(MAX_POOLS);
    const audit: AdmissionAudit = { drift: 0, pools: [], unread: [], skipped: total };
    const begun = Date.now();
    for (let start = 0; start < ids.length && Date.now() - begun < WITHIN_MS; start += AT_ONCE) {
      const group = ids.slice(start, start + AT_ONCE);
      audit.skipped -= group.length;
      const outcomes = await Promise.allSettled(group.map((pool) => this.auditPool(pool)));
      outcomes.forEach((outcome, index) => {
        if (outcome.status === 'fulfilled') audit.pools.push(outcome.value);
        else audit.unread.push({ pool: group[index] ?? '', reason: reasonOf(outcome.reason) });
      });
    }
    const drift = audit.pools.reduce((sum, pool) => sum + pool.drift, 0);
    return { ...audit, drift: drift === 0 && audit.unread.length > 0 ? null : drift };
  }

  /** The ledger first, and the attempts after it. */
  private async auditPool(pool: string): Promise<PoolAudit> {
    const now = Date.now();
    const leases = await this.workflows.heldLeases(pool, ANSWER_MS);
    const attempts = await this.store.attempts(
      pool,
      leases.map(({ seq }) => seq),
    );
    const { leasesWithoutAttempt, attemptsWithoutLease } = driftOf(leases, attempts, now);
    const live = attempts.filter(({ closedAt }) => closedAt === undefined);
    return {
      pool,
      drift: leasesWithoutAttempt.length + attemptsWithoutLease.length,
      leases: leases.length,
      inUse: { ledger: useOf(leases.map(({ demand = {} }) => ({ demand }))), attempts: useOf(live) },
      leasesWithoutAttempt: leasesWithoutAttempt.map(({ holder, seq, grantedAt }) => ({
        runId: runIdOfHolder(holder),
        seq,
        grantedAt,
      })),
      attemptsWithoutLease,
    };
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200);
