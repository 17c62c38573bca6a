import { quantileOf } from '../quantiles.js';
import { placeOf, uniformAt } from '../uniform.js';

/** How long cases of each group held their slot before: sorted, ms. Empty or absent: not known. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/**
 * Durations of one replication. A case has the same one whatever else happens, so that two simulations of the same seed
 * differ by their load and limits alone. Each replication first draws a sample from the sample: what so few values
 * cannot say shows as spread, too.
 */
export class DrawnDurations {
  constructor(
    private readonly samples: Samples,
    private readonly seed: number,
    private readonly replication: number,
  ) {}

  /** Of a case that starts; the `part`-th of several. Infinite: not known. */
  of(group: string, holder: string, part = 0): number {
    const sample = this.samples[group] ?? [];
    const { seed, replication } = this;
    const drawn = Math.floor(uniformAt(seed, replication, placeOf(holder), part) * sample.length);
    const kept = Math.floor(uniformAt(seed, replication, placeOf(group), drawn + 1) * sample.length);
    return sample[kept] ?? Number.POSITIVE_INFINITY;
  }

  /** What is left of one that has run for so long. One older than all that are known takes as long again as a new one. */
  leftOf(group: string, holder: string, ageMs: number): number {
    const sample = this.samples[group] ?? [];
    const from = sample.findIndex((ms) => ms > ageMs);
    if (from < 0) return this.of(group, holder);
    const at = from + Math.floor(uniformAt(this.seed, this.replication, placeOf(holder)) * (sample.length - from));
    return (sample[at] ?? Number.POSITIVE_INFINITY) - ageMs;
  }
}

/** The P90 of each group, where it is known. */
export const expectedOf = (samples: Samples): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(samples).flatMap(([group, sample]) => {
      const expected = quantileOf(sample, 0.9);
      return expected === undefined ? [] : [[group, Math.round(expected)] as const];
    }),
  );
