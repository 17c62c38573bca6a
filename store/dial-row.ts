import type { Dial, DialMode } from '../contracts/admission.js';
import { type DemandRow, demandOfRow } from './demand-row.js';

/** The dial of a pool. */
export interface DialRow {
  dial_mode: DialMode;
  dial_slots: number | null;
  dial_memory_mb: number | null;
  dial_cpu_millicores: number | null;
  dial_until: Date | null;
  dial_limits_until: Date | null;
}

export const DIAL_COLUMNS = 'dial_mode, dial_slots, dial_memory_mb, dial_cpu_millicores, dial_until, dial_limits_until';

/** As it is stored, whether or not it is over; undefined: nothing is set. */
export function dialOfRow(stored: DialRow): Dial | undefined {
  const { dial_mode: mode, dial_until: until, dial_limits_until: limitsUntil } = stored;
  const capped: DemandRow = { memory_mb: stored.dial_memory_mb, cpu_millicores: stored.dial_cpu_millicores };
  const limits = { ...(stored.dial_slots !== null && { slots: stored.dial_slots }), ...demandOfRow(capped) };
  if (mode === 'open' && Object.keys(limits).length === 0) return undefined;
  return {
    mode,
    limits,
    ...(until && { until: until.getTime() }),
    ...(limitsUntil && { limitsUntil: limitsUntil.getTime() }),
  };
}
