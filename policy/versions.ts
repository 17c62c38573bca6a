const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;
const NUMBER = /^\d+$/;
const LEADING_ZERO = /^0\d+$/;

/** A registered version. `registeredAt` rises with every registration: epoch ms, or the key of its row. */
export interface RegisteredVersion {
  version: string;
  registeredAt: number;
}

interface Semver {
  core: string[];
  preRelease: string[];
}

function semverOf(version: string): Semver | undefined {
  const match = SEMVER.exec(version);
  if (!match) return undefined;
  const [, major = '', minor = '', patch = '', suffix] = match;
  const preRelease = suffix === undefined ? [] : suffix.split('.');
  if (preRelease.some((part) => LEADING_ZERO.test(part))) return undefined;
  return { core: [major, minor, patch], preRelease };
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Decimal digits without leading zeros, of any length. */
const compareNumbers = (a: string, b: string): number => a.length - b.length || compareText(a, b);

function compareParts(a: string, b: string): number {
  const isNumber = [NUMBER.test(a), NUMBER.test(b)];
  if (isNumber[0] && isNumber[1]) return compareNumbers(a, b);
  if (isNumber[0] !== isNumber[1]) return isNumber[0] ? -1 : 1;
  return compareText(a, b);
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order) return order;
  }
  return a.length - b.length;
}

/** Semantic Versioning 2.0 precedence: build metadata does not count, a pre-release is below its release. */
function comparePrecedence(a: Semver, b: Semver): number {
  const order = compareLists(a.core, b.core);
  if (order) return order;
  const [isRelease, isOtherRelease] = [a.preRelease.length === 0, b.preRelease.length === 0];
  if (isRelease || isOtherRelease) return Number(isRelease) - Number(isOtherRelease);
  return compareLists(a.preRelease, b.preRelease);
}

/**
 * Negative when `a` is below `b`. The order:
 * 1. a semver version is above any other,
 * 2. two semver versions by precedence,
 * 3. the rest, and ties, by registration,
 * 4. then by text, so that the order is total.
 */
export function compareVersions(a: RegisteredVersion, b: RegisteredVersion): number {
  const [left, right] = [semverOf(a.version), semverOf(b.version)];
  if ((left === undefined) !== (right === undefined)) return left ? 1 : -1;
  const order = left && right ? comparePrecedence(left, right) : 0;
  return order || a.registeredAt - b.registeredAt || compareText(a.version, b.version);
}

/** What `latest` means: the highest of them. */
export function latestOf<T extends RegisteredVersion>(list: readonly T[]): T | undefined {
  let highest: T | undefined;
  for (const one of list) {
    if (!highest || compareVersions(one, highest) > 0) highest = one;
  }
  return highest;
}

/** A version that a reference may mean. */
export interface VersionStanding extends RegisteredVersion {
  isConfirmed: boolean;
  isDeprecated: boolean;
}

/**
 * What a reference means. The order:
 * 1. a named version is what is confirmed under that name, else what is not,
 * 2. without one, it is the highest that is confirmed and not deprecated.
 */
export function meantBy<T extends VersionStanding>(versions: readonly T[], named?: string): T | undefined {
  if (named === undefined)
    return latestOf(versions.filter(({ isConfirmed, isDeprecated }) => isConfirmed && !isDeprecated));
  const found = versions.filter(({ version }) => version === named);
  return found.find(({ isConfirmed }) => isConfirmed) ?? found[0];
}
