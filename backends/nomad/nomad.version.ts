/** Whether a version of Nomad is 1.`minor` or later. */
export function isSince(version: string, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return first > 1 || (first === 1 && second >= minor);
}
