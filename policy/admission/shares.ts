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

/** Workspaces and scorecards whose last grant is remembered. What was granted nothing for longer is as good as new. */
const REMEMBERED = 500;

/** Who was granted something last, by the number of that lease: among equals it is the turn of who waits longer. */
export class LastGrants {
  private readonly seqs: Map<string, number>;

  /** The one that was granted something longest ago first. */
  constructor(seqs: Iterable<readonly [string, number]> = []) {
    this.seqs = new Map(seqs);
  }

  get all(): ReadonlyMap<string, number> {
    return this.seqs;
  }

  of(workspace: string, scorecard?: string): number {
    return this.seqs.get(keyOf(workspace, scorecard)) ?? 0;
  }

  /** Whose number changed: theirs, and those that are forgotten for it. */
  note(workspace: string, scorecard: string, seq: number): [workspace: string, scorecard?: string][] {
    const changed: [string, string?][] = [[workspace, scorecard]];
    for (const key of [keyOf(workspace), keyOf(workspace, scorecard)]) {
      this.seqs.delete(key);
      this.seqs.set(key, seq);
    }
    for (const [oldest] of this.seqs) {
      if (this.seqs.size <= REMEMBERED) break;
      this.seqs.delete(oldest);
      const [forgotten = '', itsScorecard] = oldest.split(' ');
      changed.push([forgotten, itsScorecard]);
    }
    return changed;
  }
}

/** What leases hold now, added up as they come and go: in all, by workspace and by scorecard. */
export class InUse {
  readonly total = noUse();
  private readonly uses = new Map<string, Use>();

  constructor(readonly lastGrants: LastGrants) {}

  add(lease: Lease): void {
    this.count(lease, 1);
  }

  remove(lease: Lease): void {
    this.count(lease, -1);
  }

  /** Of a workspace, or of one of its scorecards. */
  of(workspace: string, scorecard?: string): Readonly<Use> {
    return this.uses.get(keyOf(workspace, scorecard)) ?? noUse();
  }

  private count({ workspace, holder, demand }: Lease, times: 1 | -1): void {
    add(this.total, demand, times);
    for (const key of [keyOf(workspace), keyOf(workspace, scorecardOf(holder))]) {
      const use = this.uses.get(key) ?? noUse();
      add(use, demand, times);
      if (use.slots > 0) this.uses.set(key, use);
      else this.uses.delete(key);
    }
  }
}

/** Of a workspace, or of one of its scorecards: ids hold no blanks. */
const keyOf = (workspace: string, scorecard?: string): string =>
  scorecard === undefined ? workspace : `${workspace} ${scorecard}`;
