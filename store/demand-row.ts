import type { Demand } from '../contracts/admission.js';

export interface DemandRow {
  memory_mb: number | null;
  cpu_millicores: number | null;
}

/** The demand of a row: what it does not declare is absent. */
export const demandOfRow = (stored: DemandRow): Demand => ({
  ...(stored.memory_mb !== null && { memoryMb: stored.memory_mb }),
  ...(stored.cpu_millicores !== null && { cpuMillicores: stored.cpu_millicores }),
});
