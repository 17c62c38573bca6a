const Z = 1.959963984540054;
/** For one and two degrees of freedom the series below is not exact enough. */
const EXACT = [12.7062047364, 4.3026527297];

/** Two-sided 95 % quantile of Student's t, within 0.2 % (Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.5). */
function quantileOfT(freedom: number): number {
  const exact = EXACT[freedom - 1];
  if (exact !== undefined) return exact;
  const terms = [
    (Z ** 3 + Z) / 4,
    (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
    (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
    (79 * Z ** 9 + 776 * Z ** 7 + 1_482 * Z ** 5 - 1_920 * Z ** 3 - 945 * Z) / 92_160,
  ];
  return terms.reduce((sum, term, i) => sum + term / freedom ** (i + 1), Z);
}

/** The mean of paired differences with its 95 % interval after Student's t. One alone has no interval. */
export function meanDifference(differences: readonly number[]) {
  const n = differences.length;
  if (n === 0) return { difference: null, low: null, high: null };
  const difference = differences.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { difference, low: null, high: null };
  const variance = differences.reduce((sum, value) => sum + (value - difference) ** 2, 0) / (n - 1);
  const half = quantileOfT(n - 1) * Math.sqrt(variance / n);
  return { difference, low: difference - half, high: difference + half };
}
