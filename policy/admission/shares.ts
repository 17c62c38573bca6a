import type { Lease } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { add, noUse, type Use } from './room.js';

/** The scorecard of a case `case:<scorecard>.<ordinal>`; empty for a single run: those of a workspace count as one. */
export function scorecardOf(holder: string): string {
  const end = holder.lastIndexOf('.');
  return end < 0 ? '' : holder.slice('case:'.length, end);
}

/** The share of what it has most of. Axes without a limit do not count. */
export function dominantShare({ slots, memoryMb, cpuMillicores }: Use, envelope: Envelope): number {
  return Math.max(
    slots / Math.max(1, envelope.slots),
    envelope.memoryMb === undefined ? 0 : memoryMb / envelope.memoryMb,
    envelope.cpuMillicores === undefined ? 0 : cpuMillicores / envelope.cpuMillicores,
  );
}

/** What leases hold now, added up as they come and go: in all, by workspace and by scorecard. */
export class InUse {
  readonly total = noUse();
  private readonly byWorkspace = new Map<string, Use>();
  private readonly byScorecard = new Map<string, Use>();

  add(lease: Lease): void {
    this.count(lease, 1);
  }

  remove(lease: Lease): void {
    this.count(lease, -1);
  }

  ofWorkspace(workspace: string): Readonly<Use> {
    return this.byWorkspace.get(workspace) ?? noUse();
  }

  ofScorecard(workspace: string, scorecard: string): Readonly<Use> {
    return this.byScorecard.get(keyOf(workspace, scorecard)) ?? noUse();
  }

  private count({ workspace, holder, demand }: Lease, times: 1 | -1): void {
    add(this.total, demand, times);
    for (const [uses, key] of [
      [this.byWorkspace, workspace],
      [this.byScorecard, keyOf(workspace, scorecardOf(holder))],
    ] as const) {
      const use = uses.get(key) ?? noUse();
      add(use, demand, times);
      if (use.slots > 0) uses.set(key, use);
      else uses.delete(key);
    }
  }
}

const keyOf = (workspace: string, scorecard: string): string => `${workspace} ${scorecard}`;
