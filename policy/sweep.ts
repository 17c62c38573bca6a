import type { AttemptFailure } from '../contracts/attempt.js';

/** How a run ends whose workflow was ended from outside. */
export const TERMINATED: AttemptFailure = {
  code: 'PLATFORM_TERMINATED',
  message: 'its workflow was terminated from outside',
};

/** What Temporal says of an execution; `MISSING`: it knows none of that id. */
const GONE: ReadonlySet<string> = new Set(['MISSING', 'COMPLETED', 'CANCELLED', 'FAILED', 'TERMINATED', 'TIMED_OUT']);

/** Whether nothing more comes of an execution. Any other status, such as a paused workflow's, may go on. */
export const isGone = (status: string): boolean => GONE.has(status);

/** Whether a case gave everything back itself. One that was ended from outside did not. */
export const hasEndedItself = (status: string): boolean => status === 'COMPLETED' || status === 'CANCELLED';

/** An allocation that exists on a cluster, and when it was made, epoch ms. */
export interface Allocation {
  name: string;
  madeAt: number;
  /** Whose it is, where several workspaces share what was looked at. */
  workspaceId?: string;
  /** When it is surely over, epoch ms. Absent: as soon as it is nobody's. */
  expiresAt?: number;
}

/** What the database knows of allocations, by name: whether their attempt is open. */
export type Standings = ReadonlyMap<string, 'open' | 'closed'>;

/**
 * Allocations of this deployment that should not exist: those older than the grace of which no attempt is open. The row
 * of an attempt comes before its allocation and is closed after it, so one that is closed is nobody's. One in no row is
 * too, but may be of another deployment that goes by the same name: it is left alone until it is surely over.
 */
export function leftoversOf(
  allocations: readonly Allocation[],
  standings: Standings,
  { now, graceMs }: { now: number; graceMs: number },
): string[] {
  const isLeftover = ({ name, madeAt, expiresAt = madeAt }: Allocation): boolean => {
    const standing = standings.get(name);
    return now - madeAt >= graceMs && (standing === 'closed' || (standing === undefined && now >= expiresAt));
  };
  return allocations.filter(isLeftover).map(({ name }) => name);
}
