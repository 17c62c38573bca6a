import { Injectable } from '@nestjs/common';
import type { DialChange, LimitsView, RuntimeDial } from '../../contracts/dial.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Envelope } from '../../contracts/runtime.js';
import type { CircuitReset } from '../../contracts/runtime-admission.js';
import { limitsAt } from '../../policy/admission/limits.js';
import { limitsAbove, OPEN, turned } from '../../policy/dial.js';
import { type Dialled, DialStore } from '../../store/dial.store.js';
import type { Identity, Principal } from '../common/caller.js';
import { RegistryService } from '../common/registry.service.js';
import { invalid } from '../common/schema.pipe.js';
import { WorkflowClient } from '../common/workflow.client.js';

/** Steers a runtime above its spec: pause, drain, lower limits. */
@Injectable()
export class DialService {
  constructor(
    private readonly dials: DialStore,
    private readonly registry: RegistryService,
    private readonly workflows: WorkflowClient,
  ) {}

  /** The pool of the runtime that the workspace means by this id. */
  async find(workspace: string, runtimeId: string): Promise<Dialled> {
    const found = await this.dials.find(workspace, runtimeId);
    if (!found) throw await this.registry.missing('runtimes', workspace, runtimeId);
    return found;
  }

  /** Grants what waits again, at once: somebody vouches for the runtime. */
  async resetCircuit({ workspace }: Principal, identity: Identity, runtimeId: string): Promise<CircuitReset> {
    const { poolId, owner } = await this.find(workspace, runtimeId);
    refuseForeign(owner, workspace, identity, runtimeId);
    this.workflows.resetCircuit(poolId);
    return { runtime: runtimeId, owner };
  }

  /** Reaches work that waits already. */
  async turn(principal: Principal, identity: Identity, runtimeId: string, change: DialChange): Promise<RuntimeDial> {
    const { poolId, owner } = await this.find(principal.workspace, runtimeId);
    refuseForeign(owner, principal.workspace, identity, runtimeId);
    const now = Date.now();
    const { dialled, changed } = await this.dials.turn(poolId, ({ envelope, dial }) => {
      refuseHigher(change, envelope, runtimeId);
      const next = turned(dial, change, principal.subject, now);
      if (next === OPEN && isAboutNothing(change)) throw nothingSet(runtimeId);
      return next;
    });
    this.workflows.signalLimits([changed]);
    return runtimeDial(dialled, now);
  }
}

/** It says until when or why, and not what. */
const isAboutNothing = ({ mode, limits }: DialChange): boolean => mode === undefined && limits === undefined;

function nothingSet(runtimeId: string): PlatformError {
  const message = `nothing is set for runtime ${runtimeId}: give \`mode\` or \`limits\`, too`;
  return new PlatformError('BAD_REQUEST', message, { errors: [{ path: 'mode', message }] });
}

function refuseForeign(owner: string, workspace: string, { isOperator }: Identity, runtimeId: string): void {
  if (owner === workspace || isOperator) return;
  const message = `runtime ${runtimeId} is shared by all workspaces: only the operator steers it`;
  throw new PlatformError('FORBIDDEN', message);
}

const UNITS = { slots: 'slots', memoryMb: 'MB', cpuMillicores: 'millicores' } as const;

function refuseHigher(change: DialChange, envelope: Envelope, runtimeId: string): void {
  const errors = limitsAbove(change, envelope).map(({ axis, asked, own }) => ({
    path: `limits.${axis}`,
    message: `is ${asked}, and runtime ${runtimeId} has ${own} ${UNITS[axis]} in all: this only lowers; register a version with more`,
  }));
  if (errors.length > 0) throw invalid('the body', errors);
}

const limitsView = ({ slots, memoryMb, cpuMillicores }: Envelope): LimitsView => ({
  slots,
  memoryMb: memoryMb ?? null,
  cpuMillicores: cpuMillicores ?? null,
});

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

export function runtimeDial({ owner, runtimeId, envelope, dial }: Dialled, now: number): RuntimeDial {
  const { mode, limits, until, limitsUntil, reason, by } = dial;
  const { slots, memoryMb, cpuMillicores } = limits;
  return {
    runtime: runtimeId,
    owner,
    mode,
    limits: { slots: slots ?? null, memoryMb: memoryMb ?? null, cpuMillicores: cpuMillicores ?? null },
    until: timeOf(until),
    limitsUntil: timeOf(limitsUntil),
    reason: reason ?? null,
    by: by ?? null,
    envelope: limitsView(envelope),
    inForce: limitsView(limitsAt({ envelope, dial, workspaces: {}, pausedScorecards: [] }, now).envelope),
  };
}
