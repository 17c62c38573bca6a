/** Of this run. Every test that uses it prints it; given in the environment it brings the same run again. */
export const SEED = Number(process.env.EVERDICT_TEST_SEED);

/** Whole numbers from `low` to `high`. */
export type Random = (low: number, high: number) => number;

/** The same numbers for the same name and seed. */
export function randomFor(name: string): Random {
  let state = [...name].reduce((hash, character) => Math.imul(hash, 31) + character.charCodeAt(0), SEED);
  return (low, high) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return low + Math.floor((state / 2 ** 32) * (high - low + 1));
  };
}
