import type { Demand, Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { type Bounds, NOTHING } from './fit-tree.js';

/** What leases hold, or what is free of an envelope. */
export interface Use {
  slots: number;
  memoryMb: number;
  cpuMillicores: number;
}

/** No limit on that axis: still less than what is above every limit. */
const UNLIMITED = Number.MAX_VALUE;
/** After every instant. */
export const NEVER = Number.MAX_SAFE_INTEGER;

export const noUse = (): Use => ({ slots: 0, memoryMb: 0, cpuMillicores: 0 });

export const wholeOf = ({ slots, memoryMb = UNLIMITED, cpuMillicores = UNLIMITED }: Envelope): Use => ({
  slots,
  memoryMb,
  cpuMillicores,
});

/** What is left of it; below zero after a limit was lowered, until enough is given back. */
export const less = (whole: Use, use: Use): Use => ({
  slots: whole.slots - use.slots,
  memoryMb: whole.memoryMb - use.memoryMb,
  cpuMillicores: whole.cpuMillicores - use.cpuMillicores,
});

/** Where there is a limit. */
export const freeOf = (envelope: Envelope, { slots, memoryMb, cpuMillicores }: Use) => ({
  slots,
  ...(envelope.memoryMb !== undefined && { memoryMb }),
  ...(envelope.cpuMillicores !== undefined && { cpuMillicores }),
});

/** What one lease holds: what it does not declare is not counted. */
export const useOf = ({ memoryMb = 0, cpuMillicores = 0 }: Demand): Use => ({ slots: 1, memoryMb, cpuMillicores });

export function add(use: Use, { memoryMb = 0, cpuMillicores = 0 }: Demand, times: 1 | -1): void {
  use.slots += times;
  use.memoryMb += times * memoryMb;
  use.cpuMillicores += times * cpuMillicores;
}

/** An exact fit fits; what is not declared fits even where that sum is already full. */
export const fits = ({ memoryMb, cpuMillicores, together }: Readonly<Bounds>, room: Use): boolean =>
  room.slots >= 1 &&
  memoryMb <= room.memoryMb &&
  cpuMillicores <= room.cpuMillicores &&
  together <= Math.max(0, room.memoryMb) + Math.max(0, room.cpuMillicores);

/** Whether tickets of that kind age, are refused, or get a reservation: not those of workers that did not say whose they are. */
export const isKnown = ({ workspace }: Pick<Ticket, 'workspace'>): boolean => Boolean(workspace);

export function boundsOf(ticket: Ticket): Bounds {
  const { memoryMb, cpuMillicores } = ticket.demand;
  return {
    memoryMb: memoryMb ?? Number.NEGATIVE_INFINITY,
    cpuMillicores: cpuMillicores ?? Number.NEGATIVE_INFINITY,
    together: (memoryMb ?? 0) + (cpuMillicores ?? 0),
    askedAt: isKnown(ticket) ? ticket.askedAt : NEVER,
    expectedMs: ticket.expectedMs ?? NOTHING.expectedMs,
  };
}
