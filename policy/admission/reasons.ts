import type { AdmissionLimits, Demand, Ticket } from '../../contracts/admission.js';
import type { Waiting, WaitingReason } from '../../contracts/waiting.js';
import type { Ledger } from './ledger.js';
import { type LimitsInForce, limitsAt } from './limits.js';
import type { Use } from './room.js';
import { scorecardOf } from './shares.js';

type Hold = Omit<Waiting, 'ahead'>;

/** Why tickets of one pool wait, as the ledger stands. */
export class Reasons {
  private readonly inForce: LimitsInForce;
  private readonly paused: ReadonlySet<string>;
  private readonly parked: ReadonlySet<string>;

  constructor(
    private readonly runtime: string,
    private readonly ledger: Ledger,
    private readonly limits: AdmissionLimits,
    private readonly now: number,
  ) {
    this.inForce = limitsAt(limits, now);
    this.paused = new Set(limits.pausedScorecards);
    this.parked = new Set(ledger.parked);
  }

  /**
   * What holds a ticket up, the first that applies:
   * 1. the runtime is paused or drains, 2. its scorecard is paused, 3. its workspace is at its quota,
   * 4. the runtime failed too often, 5. its session pool is full or was not asked yet,
   * 6. slots, memory or CPU are in use, as far as it asks for them, 7. they are kept for another ticket.
   * None of these: it has its turn among those before it.
   */
  of({ holder, workspace, demand }: Ticket): Hold {
    if (!this.inForce.isOpen) return this.hold('paused', this.scope);
    const scorecard = scorecardOf(holder);
    if (this.paused.has(scorecard)) return this.hold('paused', `scorecard ${scorecard}`);
    const { reservation } = this.ledger;
    const isKept = reservation !== undefined && reservation.holder !== holder;
    return (
      this.quota(workspace) ??
      (this.ledger.circuit.view.state === 'closed' ? undefined : this.hold('circuit', this.scope)) ??
      this.pool(demand) ??
      this.capacity(demand) ??
      (isKept ? this.hold('reservation', this.scope) : this.axis('slots'))
    );
  }

  private hold(reason: WaitingReason, scope: string): Hold {
    return { reason, scope, limit: null, used: null };
  }

  private get scope(): string {
    return `runtime ${this.runtime}`;
  }

  private quota(workspace: string): Hold | undefined {
    const limit = this.limits.workspaces[workspace]?.maxRunning;
    if (limit === undefined) return undefined;
    // What a parked workspace has open elsewhere fills its quota.
    const used = this.parked.has(workspace) ? limit : this.ledger.useOf(workspace).slots;
    return used < limit ? undefined : { reason: 'quota', scope: `workspace ${workspace}`, limit, used };
  }

  private pool({ sessionPool }: Demand): Hold | undefined {
    const full = sessionPool === undefined ? undefined : this.ledger.sessions.full(sessionPool, this.now);
    return full && { reason: 'pool', scope: `pool ${sessionPool}`, limit: full.total, used: full.used };
  }

  private capacity({ memoryMb = 0, cpuMillicores = 0 }: Demand): Hold | undefined {
    const asked = { slots: 1, memoryMb, cpuMillicores };
    const full = AXES.find((axis) => {
      const limit = this.inForce.envelope[axis];
      return asked[axis] > 0 && limit !== undefined && this.ledger.inUse[axis] + asked[axis] > limit;
    });
    return full && this.axis(full);
  }

  private axis(axis: keyof Use): Hold {
    return {
      reason: REASON_OF[axis],
      scope: this.scope,
      limit: this.inForce.envelope[axis] ?? null,
      used: this.ledger.inUse[axis],
    };
  }
}

const AXES = ['slots', 'memoryMb', 'cpuMillicores'] as const;
const REASON_OF = { slots: 'slots', memoryMb: 'memory', cpuMillicores: 'cpu' } as const;
