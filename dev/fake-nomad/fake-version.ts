/** Whether a version is that one, or a later one. */
export function isSince(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [place, wanted] of least.entries()) {
    const part = parts[place] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
