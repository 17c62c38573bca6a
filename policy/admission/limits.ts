import type { AdmissionLimits, Dial } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';

/** What is in force at one instant. */
export interface LimitsInForce {
  /** On each axis the lower of the runtime's own limit and the dial's. */
  envelope: Envelope;
  /** Whether anything is granted at all. */
  isOpen: boolean;
  /** When that changes by itself, epoch ms. */
  until?: number;
}

export function limitsAt({ envelope, dial: set }: AdmissionLimits, now: number): LimitsInForce {
  const dial = dialAt(set, now);
  if (!dial) return { envelope, isOpen: true };
  const ends = [dial.until, dial.limitsUntil].filter((end) => end !== undefined);
  return {
    envelope: lower(envelope, dial.limits),
    isOpen: dial.mode === 'open',
    ...(ends.length > 0 && { until: Math.min(...ends) }),
  };
}

/** What of a dial is not over; undefined: nothing. */
export function dialAt(dial: Dial | undefined, now: number): Dial | undefined {
  if (!dial) return undefined;
  const isOver = (end: number | undefined): boolean => end !== undefined && end <= now;
  const { until, limitsUntil } = dial;
  const mode = isOver(until) ? 'open' : dial.mode;
  const limits = isOver(limitsUntil) ? {} : dial.limits;
  const isLimited = Object.keys(limits).length > 0;
  if (mode === 'open' && !isLimited) return undefined;
  return {
    mode,
    limits,
    ...(mode !== 'open' && until !== undefined && { until }),
    ...(isLimited && limitsUntil !== undefined && { limitsUntil }),
  };
}

function lower(envelope: Envelope, limits: Partial<Envelope>): Envelope {
  const { memoryMb, cpuMillicores } = limits;
  return {
    ...envelope,
    slots: Math.min(envelope.slots, limits.slots ?? envelope.slots),
    ...(memoryMb !== undefined && { memoryMb: Math.min(memoryMb, envelope.memoryMb ?? memoryMb) }),
    ...(cpuMillicores !== undefined && {
      cpuMillicores: Math.min(cpuMillicores, envelope.cpuMillicores ?? cpuMillicores),
    }),
  };
}
