import type { Demand, Lease } from '../contracts/admission.js';
import type { InUse } from '../contracts/admission-view.js';

/** Long enough for a grant to become an attempt, and for a closed attempt to give its lease back. */
export const SETTLED_IN_MS = 60_000;

/** An attempt of a pool: live, or one that ran under a lease the ledger still has. Times in epoch ms. */
export interface AuditedAttempt {
  runId: string;
  attempt: number;
  seq: number;
  demand: Demand;
  openedAt: number;
  closedAt?: number;
}

export type AuditedLease = Pick<Lease, 'holder' | 'seq' | 'grantedAt'>;

export interface Drift {
  leasesWithoutAttempt: AuditedLease[];
  attemptsWithoutLease: Pick<AuditedAttempt, 'runId' | 'attempt' | 'seq'>[];
}

/**
 * Where a ledger and the attempts differ for longer than it takes a message to arrive. `leases` must have been read at
 * `now` and `attempts` after it: then an attempt that is live has its lease in the ledger, however the two moved meanwhile.
 */
export function driftOf(leases: readonly AuditedLease[], attempts: readonly AuditedAttempt[], now: number): Drift {
  const isOld = (time: number): boolean => time <= now - SETTLED_IN_MS;
  const attemptBySeq = new Map(attempts.map((attempt) => [attempt.seq, attempt]));
  const leased = new Set(leases.map(({ seq }) => seq));
  return {
    leasesWithoutAttempt: leases.filter(({ seq, grantedAt }) => {
      const attempt = attemptBySeq.get(seq);
      return isOld(grantedAt) && (!attempt || (attempt.closedAt !== undefined && isOld(attempt.closedAt)));
    }),
    attemptsWithoutLease: attempts
      .filter(({ seq, openedAt, closedAt }) => closedAt === undefined && isOld(openedAt) && !leased.has(seq))
      .map(({ runId, attempt, seq }) => ({ runId, attempt, seq })),
  };
}

/** What these hold together: a slot each, and what they declare. */
export function useOf(holders: Iterable<{ demand: Demand }>): InUse {
  const use = { slots: 0, memoryMb: 0, cpuMillicores: 0 };
  for (const { demand } of holders) {
    use.slots += 1;
    use.memoryMb += demand.memoryMb ?? 0;
    use.cpuMillicores += demand.cpuMillicores ?? 0;
  }
  return use;
}
