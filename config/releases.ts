/** Numbers of a release, `1.32.0`; what follows them does not count. */
function numbersOf(version: string): number[] {
  return version.split(/[-+]/)[0]?.split('.').map(Number) ?? [];
}

/** Above 0 if `a` is the newer release. */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let place = 0; place < Math.max(left.length, right.length); place += 1) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The part of a version within which data stays readable: `1.32`. */
export const seriesOf = (version: string): string => numbersOf(version).slice(0, 2).join('.');
