/** Square of the two-sided 95 % quantile of the normal distribution. */
const Z2 = 1.959963984540054 ** 2;
const HALVINGS = 60;

/** How far, in squared standard errors, the counts are from a true difference: Tango's score statistic. */
function distance(fixed: number, regressed: number, n: number, difference: number): number {
  const off = fixed - regressed - n * difference;
  const b = (2 * n - fixed + regressed) * difference - fixed - regressed;
  const c = -regressed * difference * (1 - difference);
  // The likeliest share of regressions, were that the true difference.
  const share = (Math.sqrt(Math.max(0, b ** 2 - 8 * n * c)) - b) / (4 * n);
  const variance = n * (2 * share + difference * (1 - difference));
  return off === 0 ? 0 : off ** 2 / Math.max(variance, Number.MIN_VALUE);
}

function upperBound(fixed: number, regressed: number, n: number): number {
  let [inside, outside] = [(fixed - regressed) / n, 1];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (inside + outside) / 2;
    if (distance(fixed, regressed, n, middle) <= Z2) inside = middle;
    else outside = middle;
  }
  return outside;
}

/**
 * By how much the share that passes rose over `pairs`, with the 95 % score interval for paired proportions: all true
 * differences that a score test does not refuse (Tango: Equivalence test and confidence interval for the difference in
 * proportions for the paired-sample design, Statistics in Medicine 1998, 17:891–908). It stays honest where few or no
 * pairs changed.
 */
export function pairedDifference(regressed: number, fixed: number, pairs: number) {
  if (pairs === 0) return { difference: null, low: null, high: null };
  return {
    difference: (fixed - regressed) / pairs,
    low: 0 - upperBound(regressed, fixed, pairs),
    high: upperBound(fixed, regressed, pairs),
  };
}
