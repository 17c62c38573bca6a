import type { AdmissionLimits } from '../../contracts/admission.js';
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

export function limitsAt({ envelope, dial }: AdmissionLimits, now: number): LimitsInForce {
  if (!dial || (dial.until !== undefined && dial.until <= now)) return { envelope, isOpen: true };
  return {
    envelope: lower(envelope, dial.limits),
    isOpen: dial.mode === 'open',
    ...(dial.until !== undefined && { until: dial.until }),
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
