import { evidenceOfAtMost, evidenceOfMore, type Sample } from './evidence.js';

type Evidence = (sample: Sample, most: number) => number;

/** The chance that `evidence` ever reaches `limit` on `bad` of `size` members: exact, over every order. */
function chanceOf(evidence: Evidence, size: number, bad: number, most: number, limit: number): number {
  let reached = 0;
  let open = new Map([[0, 1]]);
  for (let seen = 0; seen <= size; seen += 1) {
    const next = new Map<number, number>();
    for (const [seenBad, chance] of open) {
      if (evidence({ size, seen, bad: seenBad }, most) >= limit) {
        reached += chance;
        continue;
      }
      const isBad = (bad - seenBad) / (size - seen);
      if (isBad > 0) next.set(seenBad + 1, (next.get(seenBad + 1) ?? 0) + chance * isBad);
      if (isBad < 1) next.set(seenBad, (next.get(seenBad) ?? 0) + chance * (1 - isBad));
    }
    open = next;
  }
  return reached;
}

test.each([
  ['at most', evidenceOfAtMost, (bad: number, most: number) => bad <= most],
  ['more', evidenceOfMore, (bad: number, most: number) => bad > most],
] as const)(
  'evidence of %s reaches 1/α where that is wrong with a chance of at most α, and always where it is right and α is 1',
  (_side, evidence, isTrue) => {
    for (const size of [1, 2, 7, 20, 60]) {
      for (let most = 0; most <= size; most += Math.ceil(size / 12)) {
        for (let bad = 0; bad <= size; bad += 1) {
          for (const alpha of [0.2, 0.05, 0.01]) {
            const chance = chanceOf(evidence, size, bad, most, 1 / alpha);
            if (isTrue(bad, most)) expect(chance).toBeCloseTo(1, 9);
            else expect(chance).toBeLessThanOrEqual(alpha + 1e-12);
          }
          const certain = chanceOf(evidence, size, bad, most, Number.POSITIVE_INFINITY);
          expect(certain).toBeCloseTo(isTrue(bad, most) ? 1 : 0, 9);
        }
      }
    }
  },
);

test.each([
  // Of 100, one bad member is missed by a sample of n with the chance (100 - n) / 100.
  [{ size: 100, seen: 94, bad: 0 }, 0, 100 / 6],
  [{ size: 100, seen: 95, bad: 0 }, 0, 20],
  [{ size: 100, seen: 100, bad: 0 }, 0, Number.POSITIVE_INFINITY],
  [{ size: 100, seen: 1, bad: 1 }, 0, 0],
  [{ size: 0, seen: 0, bad: 0 }, 0, Number.POSITIVE_INFINITY],
  [{ size: 100, seen: 0, bad: 0 }, 100, Number.POSITIVE_INFINITY],
])('of %j, at most %i bad: %d', (sample, most, want) => {
  expect(evidenceOfAtMost(sample, most)).toBeCloseTo(want, 9);
});

test('is finite and quick for the largest scorecards, unless it is certain', () => {
  const sample = { size: 100_000, seen: 50_000, bad: 100 };
  expect(evidenceOfAtMost(sample, 40_000)).toBe(Number.MAX_VALUE);
  expect(evidenceOfMore({ ...sample, bad: 49_000 }, 49_100)).toBeGreaterThan(1e9);
  expect(evidenceOfMore({ ...sample, bad: 49_000 }, 49_100)).toBeLessThan(Number.POSITIVE_INFINITY);
});
