/**
 * Two-sided exact McNemar test: the chance, if a change in either direction is as likely, of counts that lie at least as
 * far apart. It is a binomial test of the smaller count with share 1/2, doubled (Fagerland, Lydersen, Laake: The McNemar
 * test for binary matched-pairs data, BMC Med Res Methodol 2013, 13:91). Logarithms keep it right for any counts.
 */
export function mcnemar(regressed: number, fixed: number): number {
  const n = regressed + fixed;
  const fewer = Math.min(regressed, fixed);
  if (2 * fewer === n) return 1;
  let logTerm = -n * Math.LN2;
  for (let i = 1; i <= fewer; i++) logTerm += Math.log((n - fewer + i) / i);
  // The terms below the largest, each as a share of it.
  let [sum, share] = [1, 1];
  for (let i = fewer; i > 0 && share > Number.EPSILON * sum; i--) {
    share *= i / (n - i + 1);
    sum += share;
  }
  return Math.min(1, 2 * Math.exp(logTerm) * sum);
}
