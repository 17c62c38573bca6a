import type { AdmissionLimits, WorkspaceShare } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type LimitsInForce, limitsAt } from './limits.js';
import type { Gates } from './lines.js';
import { NEVER } from './room.js';
import type { SessionPools } from './session-pools.js';
import { dominantShare, type InUse } from './shares.js';

type Shares = Readonly<Record<string, WorkspaceShare>>;

/** What a workspace may hold in this pool at most, since it has as many open runs over all pools as its quota allows. */
export interface QuotaCap {
  workspace: string;
  slots: number;
  /** Its quota then; absent until the next decision. */
  quota?: number;
}

/** How workspaces and scorecards stand, by what they have in use and the limits in force. */
export class Standing implements Gates {
  private readonly caps: Map<string, QuotaCap>;
  private envelope: Envelope = { slots: 0 };
  private workspaces: Shares = {};
  private paused: ReadonlySet<string> = new Set();

  constructor(
    private readonly inUse: InUse,
    private readonly sessions: Pick<SessionPools, 'isOpen'>,
    caps: Iterable<QuotaCap>,
  ) {
    this.caps = new Map(Array.from(caps, (cap) => [cap.workspace, cap]));
  }

  get quotaCaps(): QuotaCap[] {
    return [...this.caps.values()];
  }

  /** Workspaces that may be granted nothing until they are said to have room. */
  get parked(): string[] {
    return this.quotaCaps.flatMap(({ workspace, slots }) =>
      this.inUse.of(workspace).slots < slots ? [] : [workspace],
    );
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

  /** It has as many open runs as it may over all pools: no more in this one than it holds now. */
  park(workspace: string): void {
    this.caps.set(workspace, { workspace, slots: this.inUse.of(workspace).slots });
  }

  /** It has no ticket left: what is known of its room is old when it comes again. */
  forgetCap(workspace: string): void {
    this.caps.delete(workspace);
  }

  /** Somebody says that it may have room for one more. Whether it was parked. */
  unpark(workspace: string): boolean {
    const cap = this.caps.get(workspace);
    if (!cap) return false;
    this.caps.set(workspace, { ...cap, slots: Math.max(cap.slots, this.inUse.of(workspace).slots) + 1 });
    return true;
  }

  /** Those whose quota is another than when they were parked: nothing is known of their room. */
  forgetChangedQuotas(): string[] {
    const changed: string[] = [];
    for (const [workspace, { quota, ...cap }] of this.caps) {
      const current = this.quotaOf(workspace);
      if (quota === undefined) this.caps.set(workspace, { ...cap, quota: current });
      else if (quota !== current) changed.push(workspace);
    }
    for (const workspace of changed) this.caps.delete(workspace);
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
    const { slots = NEVER } = this.caps.get(workspace) ?? {};
    return this.inUse.of(workspace).slots < Math.min(slots, this.quotaOf(workspace));
  }

  isPaused(scorecard: string): boolean {
    return this.paused.has(scorecard);
  }

  hasSession(sessionPool: string): boolean {
    return this.sessions.isOpen(sessionPool);
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
