import type { AdmissionLimits, Demand, Ticket } from '../../contracts/admission.js';
import type { InUse } from '../../contracts/admission-view.js';
import type { Waiting } from '../../contracts/waiting.js';
import type { Ledger } from './ledger.js';
import { limitsAt } from './limits.js';

type Hold = Omit<Waiting, 'ahead'>;

/** Why tickets of one pool wait, as the ledger stands. */
export class Reasons {
  readonly inUse: InUse = { slots: 0, memoryMb: 0, cpuMillicores: 0 };
  private readonly runningOf = new Map<string, number>();
  private readonly inForce: ReturnType<typeof limitsAt>;
  private readonly paused: ReadonlySet<string>;

  constructor(
    private readonly runtime: string,
    ledger: Ledger,
    private readonly limits: AdmissionLimits,
    now: number,
  ) {
    this.inForce = limitsAt(limits, now);
    this.paused = new Set(limits.pausedScorecards);
    for (const { workspace, demand } of ledger.leases.values()) {
      this.inUse.slots += 1;
      this.inUse.memoryMb += demand.memoryMb ?? 0;
      this.inUse.cpuMillicores += demand.cpuMillicores ?? 0;
      this.runningOf.set(workspace, (this.runningOf.get(workspace) ?? 0) + 1);
    }
  }

  /**
   * What holds a ticket up, the first that applies:
   * 1. the runtime is paused or drains, 2. its scorecard is paused, 3. its workspace is at its quota,
   * 4. slots, memory or CPU are in use, as far as it asks for them.
   * None of these: it has its turn among those before it.
   */
  of(ticket: Ticket): Hold {
    if (!this.inForce.isOpen) return { reason: 'paused', scope: this.scope, limit: null, used: null };
    const scorecard = scorecardOf(ticket.holder);
    if (scorecard !== undefined && this.paused.has(scorecard)) {
      return { reason: 'paused', scope: `scorecard ${scorecard}`, limit: null, used: null };
    }
    return this.quota(ticket.workspace) ?? this.capacity(ticket.demand) ?? this.axis('slots');
  }

  private get scope(): string {
    return `runtime ${this.runtime}`;
  }

  private quota(workspace: string): Hold | undefined {
    const limit = this.limits.workspaces[workspace]?.maxRunning;
    const used = this.runningOf.get(workspace) ?? 0;
    return limit === undefined || used < limit
      ? undefined
      : { reason: 'quota', scope: `workspace ${workspace}`, limit, used };
  }

  private capacity({ memoryMb = 0, cpuMillicores = 0 }: Demand): Hold | undefined {
    const asked = { slots: 1, memoryMb, cpuMillicores };
    const full = AXES.find((axis) => {
      const limit = this.inForce.envelope[axis];
      return asked[axis] > 0 && limit !== undefined && this.inUse[axis] + asked[axis] > limit;
    });
    return full && this.axis(full);
  }

  private axis(axis: keyof InUse): Hold {
    return {
      reason: REASON_OF[axis],
      scope: this.scope,
      limit: this.inForce.envelope[axis] ?? null,
      used: this.inUse[axis],
    };
  }
}

const AXES = ['slots', 'memoryMb', 'cpuMillicores'] as const;
const REASON_OF = { slots: 'slots', memoryMb: 'memory', cpuMillicores: 'cpu' } as const;

/** The scorecard whose case holds this ticket; undefined for a run of its own. */
const scorecardOf = (holder: string): string | undefined => /^case:(.+)\.\d+$/.exec(holder)?.[1];
