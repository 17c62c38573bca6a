/** Mixes the bits of a 32-bit number, so that neighbours come out unlike. */
function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

/**
 * A number of [0, 1), evenly spread, that belongs to a place: the same for the same seed and place, whatever else was
 * drawn before it. So what is compared differs by what was changed alone.
 */
export function uniformAt(seed: number, row: number, column: number, draw = 0): number {
  let bits = mixed(seed + 0x9e3779b9);
  for (const part of [row, column, draw]) bits = mixed(Math.imul(bits, 31) + part + 0x6d2b79f5);
  return (bits >>> 0) / 2 ** 32;
}

/** A name as a place. */
export function placeOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
