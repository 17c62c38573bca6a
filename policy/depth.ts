/** `asked` more runs than the `there` that have no outcome yet would be above the cap. */
export interface Shortfall {
  cap: number;
  there: number;
  asked: number;
}

const UNKNOWN_PACE_SEC = 60;
const LONGEST_WAIT_SEC = 3_600;

/** When to come back, by how many runs settle a second: once as many as are in the way have settled. */
export function retryAfterSec({ cap, there, asked }: Shortfall, settledPerSec: number): number {
  if (settledPerSec <= 0) return UNKNOWN_PACE_SEC;
  const inTheWay = Math.min(there, there + asked - cap);
  return Math.min(LONGEST_WAIT_SEC, Math.max(1, Math.ceil(inTheWay / settledPerSec)));
}
