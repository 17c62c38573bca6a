import { RUN_ERROR_CODES, type RunErrorCode } from '../contracts/attempt.js';

/** The last attempts of a scorecard that are looked at, and how many of them it takes to judge. */
export const JUDGED_ATTEMPTS = 20;
const FEWEST = 10;

/** Ended by infrastructure, and nothing else. */
export const isInfra = (code: RunErrorCode): boolean => RUN_ERROR_CODES[code] === 'infra';

/**
 * Why a scorecard is to wait until somebody looks, by how its last attempts ended: the code of each that failed, null for
 * what ran. Undefined: it goes on. It waits once more than half of them ended as infrastructure errors: further attempts
 * would most likely be burned, too.
 */
export function pauseReason(ends: readonly (RunErrorCode | null)[]): string | undefined {
  const judged = ends.slice(0, JUDGED_ATTEMPTS);
  const codes = judged.filter((code) => code !== null).filter(isInfra);
  if (judged.length < FEWEST || codes.length * 2 <= judged.length) return undefined;
  return `${codes.length} of its last ${judged.length} attempts ended as infrastructure errors: ${countsOf(codes)}`;
}

/** `NODE_LOST 12, EVICTED 1`, the most frequent first. */
function countsOf(codes: readonly RunErrorCode[]): string {
  const counts = new Map<RunErrorCode, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const sorted = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return sorted.map(([code, count]) => `${code} ${count}`).join(', ');
}
