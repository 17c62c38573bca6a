import type { AdmissionLimits, WorkspaceShare } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type LimitsInForce, limitsAt } from './limits.js';
import type { Gates } from './lines.js';
import { NEVER } from './room.js';
import { dominantShare, type InUse } from './shares.js';

type Shares = Readonly<Record<string, WorkspaceShare>>;

/** How workspaces and scorecards stand, by what they have in use and the limits in force. */
export class Standing implements Gates {
  /** Workspaces that have as many open runs as they may, over all pools, and their quota then; 0: not seen yet. */
  readonly parked: Map<string, number>;
  private envelope: Envelope = { slots: 0 };
  private workspaces: Shares = {};
  private paused: ReadonlySet<string> = new Set();

  constructor(
    private readonly inUse: InUse,
    parked: Iterable<readonly [string, number]>,
  ) {
    this.parked = new Map(parked);
  }

  /** Whether anything about anyone's standing may have changed. */
  follow(limits: AdmissionLimits, now: number): { inForce: LimitsInForce; isChanged: boolean } {
    // Earlier workers read limits without them.
    const { workspaces = {}, pausedScorecards = [] } = limits;
    const inForce = limitsAt(limits, now);
    const isChanged =
      !isSameEnvelope(inForce.envelope, this.envelope) ||
      !isSameShares(workspaces, this.workspaces) ||
      pausedScorecards.length !== this.paused.size ||
      !pausedScorecards.every((scorecard) => this.paused.has(scorecard));
    if (isChanged) {
      this.envelope = inForce.envelope;
      this.workspaces = workspaces;
      this.paused = new Set(pausedScorecards);
    }
    return { inForce, isChanged };
  }

  park(workspace: string): void {
    this.parked.set(workspace, 0);
  }

  /** Those whose quota was changed since they were parked, who are so no more. */
  unparkChanged(): string[] {
    const changed: string[] = [];
    for (const [workspace, quota] of this.parked) {
      const current = this.quotaOf(workspace);
      if (quota === 0) this.parked.set(workspace, current);
      else if (quota !== current) changed.push(workspace);
    }
    for (const workspace of changed) this.parked.delete(workspace);
    return changed;
  }

  shareOf(workspace: string, scorecard?: string): number {
    const share = dominantShare(this.inUse.of(workspace, scorecard), this.envelope);
    return scorecard === undefined ? share / (this.workspaces[workspace]?.weight ?? 1) : share;
  }

  lastGrantOf(workspace: string, scorecard?: string): number {
    return this.inUse.lastGrants.of(workspace, scorecard);
  }

  isOpen(workspace: string): boolean {
    return !this.parked.has(workspace) && this.inUse.of(workspace).slots < this.quotaOf(workspace);
  }

  isPaused(scorecard: string): boolean {
    return this.paused.has(scorecard);
  }

  hasSession(_sessionPool: string): boolean {
    return true;
  }

  private quotaOf(workspace: string): number {
    return this.workspaces[workspace]?.maxRunning ?? NEVER;
  }
}

export const isSameEnvelope = (one: Envelope, other: Envelope): boolean =>
  one.slots === other.slots && one.memoryMb === other.memoryMb && one.cpuMillicores === other.cpuMillicores;

function isSameShares(one: Shares, other: Shares): boolean {
  if (one === other) return true;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => one[name]?.weight === other[name]?.weight && one[name]?.maxRunning === other[name]?.maxRunning,
    )
  );
}
