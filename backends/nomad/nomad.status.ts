import { oneLine } from '../cluster-text.js';
import { restartsOf } from './nomad.evidence.js';
import type { JobAllocation } from './nomad.replies.js';

export type Standing = 'pending' | 'running' | 'ended';

/** How far an allocation is by its own word; that of its job says nothing. One that is unknown may be running. */
export function standingOf({ ClientStatus }: JobAllocation): Standing {
  if (ClientStatus === 'pending') return 'pending';
  return ['complete', 'failed', 'lost'].includes(ClientStatus) ? 'ended' : 'running';
}

/** Whether something of it may still run. */
export const mayRun = (allocation: JobAllocation): boolean => standingOf(allocation) !== 'ended';

export interface Choice {
  /** Absent: there is none, or no longer. */
  allocation?: JobAllocation;
  /** Duplicates and replacements: nothing of theirs counts. */
  others: JobAllocation[];
}

/** The allocation that the verdict belongs to: the one that was seen first, else the first that was made. */
export function chooseAllocation(allocations: readonly JobAllocation[], placedAs: string | undefined): Choice {
  const byAge = [...allocations].sort((a, b) => a.CreateIndex - b.CreateIndex);
  const allocation = placedAs === undefined ? byAge[0] : byAge.find(({ ID }) => ID === placedAs);
  return { ...(allocation && { allocation }), others: byAge.filter((other) => other !== allocation) };
}

/** What is known of where an allocation runs, and of what should not have happened to it. */
export function provenanceOf({ allocation, others }: { allocation: JobAllocation; others: readonly JobAllocation[] }) {
  const anomalies = anomaliesOf(allocation, others);
  return {
    node: oneLine(allocation.NodeName),
    nodeId: oneLine(allocation.NodeID),
    allocation: oneLine(allocation.ID),
    ...(anomalies.length > 0 && { anomalies }),
  };
}

function anomaliesOf(allocation: JobAllocation, others: readonly JobAllocation[]): string[] {
  const restarts = restartsOf(allocation);
  const anomalies: string[] = [];
  if (restarts > 0) anomalies.push(restartText(restarts));
  for (const { ID, ClientStatus } of others.slice(0, 3)) {
    anomalies.push(`Nomad made another allocation of it, ${oneLine(ID)} (${oneLine(ClientStatus)}): it does not count`);
  }
  return anomalies;
}

export const restartText = (restarts: number): string =>
  `Nomad started it ${restarts === 1 ? 'once' : `${restarts} times`} more, which its job forbids`;
