/** A finite population, some members of which are bad, looked at in an order drawn at random. */
export interface Sample {
  size: number;
  seen: number;
  /** Of those seen. */
  bad: number;
}

/**
 * How much the sample speaks for at most `most` bad members, as a factor against there being more. Infinite: it is
 * certain. If more are bad, the chance that it ever reaches 1/α, however often one looks, is at most α.
 *
 * The ratio of two likelihoods of what was drawn without replacement: of the claim, as a uniform mixture over
 * 0 … `most` bad members, and of the nearest population that contradicts it, with `most + 1`. Under that population it is
 * a martingale that starts at 1, under one with still more bad members it falls, and Ville's inequality bounds its maximum.
 * Source: Waudby-Smith and Ramdas, "Confidence sequences for sampling without replacement", NeurIPS 2020 (§2, the
 * prior-posterior-ratio martingale), with the mixture on one side of the bound.
 */
export function evidenceOfAtMost({ size, seen, bad }: Sample, most: number): number {
  const good = seen - bad;
  if (good >= size - most) return Number.POSITIVE_INFINITY;
  if (bad > most) return 0;
  let [ratio, sum] = [1, 0];
  // From `members` bad ones to one fewer, the likelihood changes by this factor; below `bad` it is 0.
  for (let members = most + 1; members > bad; members -= 1) {
    const goodMembers = size - members;
    ratio *= ((members - bad) / members) * ((goodMembers + 1) / (goodMembers + 1 - good));
    sum += ratio;
  }
  return Math.min(sum / (most + 1), Number.MAX_VALUE);
}

/** The same for more than `most` bad members. */
export const evidenceOfMore = ({ size, seen, bad }: Sample, most: number): number =>
  evidenceOfAtMost({ size, seen, bad: seen - bad }, size - most - 1);
