/**
 * The value below which the share `p` of what comes next lies, judged by sorted values seen before; undefined where
 * there are none. Of `n` values the k-th stands for the share k ÷ (n + 1), so that few values promise no more than many.
 */
export function quantileOf(sorted: ArrayLike<number>, p: number): number | undefined {
  const at = Math.min(Math.max((sorted.length + 1) * p - 1, 0), sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) return undefined;
  return low === high ? low : low + (high - low) * (at - Math.floor(at));
}

/** At most so many of the sorted values, evenly over their range: their distribution stays. */
export function thinned(sorted: readonly number[], most: number): number[] {
  if (sorted.length <= most) return [...sorted];
  return Array.from({ length: most }, (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / most)] ?? 0);
}

export const ascending = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);
